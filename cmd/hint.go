package cmd

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// didYouMean returns a hint that names the known word nearest to the given
// one, or "" when none is near.
func didYouMean(word string, known []string) string {
	best, least := "", utf8.RuneCountInString(word)/3+2
	for _, candidate := range known {
		if distance := editDistance(word, candidate); distance < least {
			best, least = candidate, distance
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", best)
}

// editDistance is Levenshtein's, over letters whatever their case: insertions,
// deletions and changes.
func editDistance(from, to string) int {
	a, b := []rune(strings.ToLower(from)), []rune(strings.ToLower(to))
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := diagonal
			if a[i-1] != b[j-1] {
				change++
			}
			diagonal = row[j]
			row[j] = min(change, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
