package naming

import "strings"

// maxCompared limits the length of compared names: a longer name is no misspelling of a known one.
const maxCompared = 64

// Nearest returns the known name that was probably meant by name, or "".
func Nearest(name string, known []string) string {
	nearest, least := "", max(2, len(name)/3)+1
	for _, each := range known {
		if len(name) > maxCompared || len(each) > maxCompared {
			continue
		}
		if difference := distance(strings.ToLower(name), strings.ToLower(each)); difference < least {
			nearest, least = each, difference
		}
	}
	if nearest == "" {
		return partOf(name, known)
	}
	return nearest
}

// partOf returns the first known name that contains name or is contained in it: ttl_seconds for ttl.
func partOf(name string, known []string) string {
	const shortest = 3
	for _, each := range known {
		short, long := strings.ToLower(name), strings.ToLower(each)
		if len(short) > len(long) {
			short, long = long, short
		}
		if len(short) >= shortest && len(long) <= maxCompared && strings.Contains(long, short) {
			return each
		}
	}
	return ""
}

// distance counts the insertions, removals, replacements and swaps of neighbors that turn one text into the other.
func distance(from, to string) int {
	before, last, next := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(from); i++ {
		next[0] = i
		for j := 1; j <= len(to); j++ {
			replace := last[j-1]
			if from[i-1] != to[j-1] {
				replace++
			}
			next[j] = min(last[j]+1, next[j-1]+1, replace)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(to)]
}

// DidYouMean returns a question with the nearest known name, or "" if no name is near.
func DidYouMean(name string, known []string) string {
	nearest := Nearest(name, known)
	if nearest == "" {
		return ""
	}
	return " Did you mean " + nearest + "?"
}
