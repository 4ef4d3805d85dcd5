package terminal

// Colour is a color of text on a terminal.
type Colour string

// The colors, named by their use.
const (
	Plain Colour = ""
	Bold  Colour = "1"
	Faint Colour = "2"
	Good  Colour = "32"
	Warn  Colour = "33"
	Bad   Colour = "31"
)

// Coloured reports whether results get colors: on a terminal, unless NO_COLOR is set (https://no-color.org).
func (t *Terminal) Coloured() bool {
	_, is := terminalOf(t.Out)
	return is && t.Variable("NO_COLOR") == "" && t.Variable("TERM") != "dumb"
}

// Paint returns text in a color, if results get colors. Symbols replace characters that must not reach a terminal.
func (t *Terminal) Paint(colour Colour, text string) Shown {
	return paint(t.Coloured(), colour, Sprintf("%s", text))
}

func paint(coloured bool, colour Colour, text Shown) Shown {
	if !coloured || colour == Plain || text == "" {
		return text
	}
	return "\x1b[" + Shown(colour) + "m" + text + "\x1b[0m"
}
