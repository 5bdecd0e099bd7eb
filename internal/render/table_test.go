package render

import (
	"strings"
	"testing"
)

func TestTextWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":                   0,
		"plain":              5,
		"é":                  1,
		"e\u0301":            1, // a combining accent
		"デプロイ":               8,
		"한글":                 4,
		"\u1112\u1161\u11ab": 2, // the same letters, joined by the terminal
		"ﾃﾞ":                 2, // half-width
		"！":                  2, // full-width
		"✓✗◷·":               4,
		"○ open":             6,
		"\u200b":             0,
		"👍":                  2,
	} {
		if got := textWidth(text); got != want {
			t.Errorf("%q is %d wide, want %d", text, got, want)
		}
	}
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]string{
		"plain ünï":           "plain ünï",
		"a\x1b[2Jb":           "a?[2Jb",
		"a\nb\r\tc":           "a?b??c",
		"\u202etxt.exe":       "?txt.exe",
		"a\u2028b":            "a?b",
		"not \xff valid utf8": "not ? valid utf8",
	} {
		if got := Safe(text); got != want {
			t.Errorf("Safe(%q) is %q, want %q", text, got, want)
		}
	}
}

func TestWithoutMiddle(t *testing.T) {
	for _, test := range []struct {
		text string
		to   int
		want string
	}{
		{"deploy-production-eu", 11, "deplo…on-eu"},
		{"deploy-production-eu", 10, "deplo…n-eu"},
		{"デプロイ本番環境", 9, "デプ…環境"},
		{"デプロイ本番環境", 8, "デプ…境"},
		{"abcdefgh-e\u0301e\u0301e\u0301", 8, "abcd…e\u0301e\u0301e\u0301"},
		{"aaaaaaaaaaaaaaabe\u0301", 3, "a…e\u0301"},
	} {
		got := withoutMiddle(test.text, test.to)
		if got != test.want {
			t.Errorf("%q cut to %d is %q, want %q", test.text, test.to, got, test.want)
		}
		if textWidth(got) > test.to {
			t.Errorf("%q is wider than %d", got, test.to)
		}
	}
}

// TestTableFits checks that no line is wider than the terminal as long as the
// columns that must stay have the room they need.
func TestTableFits(t *testing.T) {
	rows := [][]string{
		{"deploy-api-production-eu-central", "○ open, probe due", "3d4h ago", "10/20", "in 1h59m", "10000", "9999", "123456", "✓✓✓✓✓✗✗✗✗✗"},
		{"デプロイ", "● closed", "-", "0", "-", "1", "0", "0", "✓"},
	}
	titles := map[int]string{
		200: "NAME STATE SINCE STREAK NEXT TRY RUNS FAILED SKIPPED LAST",
		120: "NAME STATE SINCE STREAK NEXT TRY RUNS FAILED SKIPPED LAST",
		110: "NAME STATE SINCE STREAK NEXT TRY RUNS FAILED SKIPPED LAST",
		109: "NAME STATE SINCE STREAK NEXT TRY FAILED SKIPPED LAST",
		100: "NAME STATE SINCE STREAK NEXT TRY SKIPPED LAST",
		93:  "NAME STATE SINCE STREAK NEXT TRY LAST",
		79:  "NAME STATE SINCE STREAK NEXT TRY",
		78:  "NAME STATE SINCE NEXT TRY",
		70:  "NAME STATE NEXT TRY",
		55:  "NAME STATE",
		30:  "NAME STATE",
	}
	for width := 27; width <= 200; width++ {
		var out strings.Builder
		err := writeTable(&out, statusColumns(), rows, width, func(_, _ int, cell string) string { return cell })
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		for _, line := range lines {
			if textWidth(line) > width {
				t.Errorf("%d wide, want %d: %s", textWidth(line), width, line)
			}
		}
		title := strings.Join(strings.Fields(lines[0]), " ")
		if want := titles[width]; want != "" && title != want {
			t.Errorf("with %d columns: %s, want %s", width, title, want)
		}
	}
}
