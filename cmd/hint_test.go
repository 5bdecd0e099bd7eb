package cmd

import "testing"

func TestDidYouMean(t *testing.T) {
	known := []string{"run", "check", "states", "status", "deploy-api", "日次レポート"}
	for word, want := range map[string]string{
		"rum":    "run",
		"stauts": "status", // neighbours exchanged: nearer than two changes
		"STATUS": "status",
		"deploy": "deploy-api", // it begins so
		"chekc":  "check",
		"日次レポト":  "日次レポート",
		"d":      "",
		"xyz":    "",
		"":       "",
	} {
		if want != "" {
			want = `did you mean "` + want + `"?`
		}
		if got := didYouMean(word, known); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
