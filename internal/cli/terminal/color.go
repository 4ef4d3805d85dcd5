package terminal

// Color is a color of text on a terminal.
type Color string

// The colors, named by their use.
const (
	Plain Color = ""
	Bold  Color = "1"
	Faint Color = "2"
	Good  Color = "32"
	Warn  Color = "33"
	Bad   Color = "31"
)

// Colored reports whether results get colors: on a terminal, unless NO_COLOR is set (https://no-color.org).
func (t *Terminal) Colored() bool {
	_, is := terminalOf(t.Out)
	return is && t.Variable("NO_COLOR") == "" && t.Variable("TERM") != "dumb"
}

// Paint returns text in a color, if results get colors. Symbols replace characters that must not reach a terminal.
func (t *Terminal) Paint(color Color, text string) Shown {
	return paint(t.Colored(), color, Sprintf("%s", text))
}

func paint(colored bool, color Color, text Shown) Shown {
	if !colored || color == Plain || text == "" {
		return text
	}
	return "\x1b[" + Shown(color) + "m" + text + "\x1b[0m"
}
