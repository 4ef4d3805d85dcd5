package terminal

import (
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Column is one column of a table of items.
type Column[T any] struct {
	Title string
	// Text returns the cell; an empty cell is shown as "-".
	Text func(T) string
	// Colour returns the color of the cell; nil is none.
	Colour func(T) Colour
	// Wide columns are shown with -o wide only.
	Wide bool
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
	text   Shown
	colour Colour
}

const (
	columnGap = 2
	// narrowest is the smallest width that a column is cut to.
	narrowest = 8
)

// writeTable writes a table that is at most width columns wide; 0 is any width. The widest columns are cut first.
func writeTable[T any](w io.Writer, columns []Column[T], items []T, width int, coloured bool) error {
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
	widths := fit(rows, width)
	var text strings.Builder
	for _, row := range rows {
		writeRow(&text, row, widths, coloured)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (c Column[T]) cell(item T) cell {
	read := cell{text: Sprintf("%s", strings.Join(strings.Fields(c.Text(item)), " "))} // one line
	if read.text == "" {
		read.text = "-"
	}
	if c.Colour != nil {
		read.colour = c.Colour(item)
	}
	return read
}

// fit returns the width of every column.
func fit(rows [][]cell, width int) []int {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, each := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(string(each.text)))
		}
	}
	if width <= 0 {
		return widths
	}
	for excess := sum(widths) + columnGap*(len(widths)-1) - width; excess > 0; excess-- {
		widest := slices.Index(widths, slices.Max(widths))
		if widths[widest] <= narrowest {
			break
		}
		widths[widest]--
	}
	return widths
}

func sum(numbers []int) (total int) {
	for _, number := range numbers {
		total += number
	}
	return total
}

func writeRow(text *strings.Builder, row []cell, widths []int, coloured bool) {
	for i, each := range row {
		shown := cut(each.text, widths[i])
		text.WriteString(string(paint(coloured, each.colour, shown)))
		if i < len(row)-1 {
			text.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(string(shown))+columnGap))
		}
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
