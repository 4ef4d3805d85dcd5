package rawjson

import (
	"encoding/json"
	"strconv"
	"strings"
)

// longExponent is the most digits of an exponent that is parsed. A number with a
// longer exponent only equals its own spelling.
const longExponent = 18

// plainNumber spells equal numbers alike: the digits without zeros at either
// end, and their exponent. It never computes the value, so that a large exponent
// costs nothing.
func plainNumber(number json.Number) any {
	unsigned, negative := strings.CutPrefix(number.String(), "-")
	mantissa, power := unsigned, ""
	if at := strings.IndexAny(unsigned, "eE"); at >= 0 {
		mantissa, power = unsigned[:at], unsigned[at+1:]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return json.Number("0") // -0 is 0 too
	}
	exponent, short := parseExponent(power)
	if !short {
		return number
	}
	significant := strings.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant) - len(fraction))
	plain := significant + "e" + strconv.FormatInt(exponent, 10)
	if negative {
		plain = "-" + plain
	}
	return json.Number(plain)
}

// parseExponent parses the digits after the e of a number; false if there are too many.
func parseExponent(power string) (int64, bool) {
	digits, negative := strings.CutPrefix(strings.TrimPrefix(power, "+"), "-")
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > longExponent {
		return 0, false
	}
	exponent, _ := strconv.ParseInt("0"+digits, 10, 64) // so few digits always fit
	if negative {
		exponent = -exponent
	}
	return exponent, true
}
