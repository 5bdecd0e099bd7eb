package cmd

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// didYouMean returns a hint that names the known word nearest to the given
// one, else the first that begins with it, or "" when there is none.
func didYouMean(word string, known []string) string {
	best, least := "", utf8.RuneCountInString(word)/3+2
	for _, candidate := range known {
		if distance := editDistance(word, candidate); distance < least {
			best, least = candidate, distance
		}
	}
	for _, candidate := range known {
		if best == "" && len(word) > 2 && strings.HasPrefix(candidate, word) {
			best = candidate
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// editDistance counts, over letters whatever their case, the insertions,
// deletions, changes and exchanges of neighbours between two words.
func editDistance(from, to string) int {
	a, b := []rune(strings.ToLower(from)), []rune(strings.ToLower(to))
	rows := make([][]int, len(a)+1) // rows[i][j]: between the first i letters and the first j
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			rows[i][j] = min(change, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
