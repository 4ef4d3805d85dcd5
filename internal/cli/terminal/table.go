package terminal

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Column is one column of a table of items.
type Column[T any] struct {
	Title string
	// Text returns the cell; an empty cell is shown as "-".
	Text func(T) string
	// Color returns the color of the cell; nil is none.
	Color func(T) Color
	// Wide columns are shown with -o wide only.
	Wide bool
	// Whole columns are never cut: an id that was cut cannot be copied.
	Whole bool
}

// YesNo returns "yes" or "no" for a cell.
func YesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// cell is the text and color of one cell.
type cell struct {
	text  Shown
	color Color
}

const (
	columnGap = 2
	// narrowest is the smallest width that a column is cut to.
	narrowest = 8
)

// writeTable writes a table that is at most width columns wide; 0 is any width. The widest columns are cut first, then the
// last columns are left out. If the uncut columns are still wider, the terminal wraps the lines.
func writeTable[T any](w io.Writer, columns []Column[T], items []T, width int, colored bool) error {
	return writeRows(w, columns, items, width, colored, func(int) bool { return true })
}

// writeRows writes some rows of a table; the first one has the titles.
func writeRows[T any](w io.Writer, columns []Column[T], items []T, width int, colored bool, shown func(int) bool) error {
	rows := readRows(columns, items)
	flexible := make([]bool, len(columns))
	for i, column := range columns {
		flexible[i] = !column.Whole
	}
	widths := fit(rows, width, flexible)
	var text strings.Builder
	for i, row := range rows {
		if shown(i) {
			writeRow(&text, row, widths, colored)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// readRows returns the titles and the cells of all items.
func readRows[T any](columns []Column[T], items []T) [][]cell {
	rows := make([][]cell, 0, len(items)+1)
	header := make([]cell, len(columns))
	for i, column := range columns {
		header[i] = cell{Shown(column.Title), Bold}
	}
	rows = append(rows, header)
	for _, item := range items {
		row := make([]cell, len(columns))
		for i, column := range columns {
			row[i] = column.cell(item)
		}
		rows = append(rows, row)
	}
	return rows
}

func (c Column[T]) cell(item T) cell {
	read := cell{text: Sprintf("%s", strings.Join(strings.Fields(c.Text(item)), " "))} // one line
	if read.text == "" {
		read.text = "-"
	}
	if c.Color != nil {
		read.color = c.Color(item)
	}
	return read
}

// fit returns the width of every column; a column of width 0 is left out. Columns that are not flexible keep their width.
func fit(rows [][]cell, width int, flexible []bool) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, each := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(string(each.text)))
		}
	}
	if width <= 0 {
		return widths
	}
	for excess(widths, width) > 0 {
		widest := -1
		for i := range widths {
			if flexible[i] && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	for i := len(widths) - 1; i >= 0 && excess(widths, width) > 0; i-- {
		if flexible[i] {
			widths[i] = 0
		}
	}
	return widths
}

// excess returns how much wider than width a table is.
func excess(widths []int, width int) int {
	total := -columnGap
	for _, each := range widths {
		if each > 0 {
			total += each + columnGap
		}
	}
	return total - width
}

func writeRow(text *strings.Builder, row []cell, widths []int, colored bool) {
	gap := 0
	for i, each := range row {
		if widths[i] == 0 {
			continue
		}
		shown := cut(each.text, widths[i])
		text.WriteString(strings.Repeat(" ", gap))
		text.WriteString(string(paint(colored, each.color, shown)))
		gap = widths[i] - utf8.RuneCountInString(string(shown)) + columnGap
	}
	text.WriteString("\n")
}

// cut shortens a text to a width.
func cut(text Shown, width int) Shown {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return Shown(runes[:width-1]) + "…"
}
