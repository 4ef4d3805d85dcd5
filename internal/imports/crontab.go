package imports

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/jobs/cron"
)

// job is a job in the form that apply reads.
type job struct {
	Kind          string  `json:"kind"`
	ID            string  `json:"id"`
	Name          string  `json:"name"`
	Description   string  `json:"description,omitempty"`
	Schedule      string  `json:"schedule"`
	Timezone      string  `json:"timezone,omitempty"`
	Retry         *retry  `json:"retry,omitempty"`
	Configuration request `json:"configuration"`
}

type retry struct {
	MaxAttempts int `json:"max_attempts"`
}

type request struct {
	Method    string   `json:"method"`
	URL       string   `json:"url"`
	Headers   []header `json:"headers,omitempty"`
	Body      *string  `json:"body,omitempty"`
	Timeout   int      `json:"timeout,omitempty"`
	TLSVerify *bool    `json:"tls_verify,omitempty"`
}

type header struct {
	Name      string `json:"name"`
	Value     string `json:"value,omitempty"`
	ValueFrom string `json:"valueFrom,omitempty"`
}

// crontab imports the lines of a crontab that call a URL. CRON_TZ is the zone of the lines after it; without one,
// schedules are in UTC.
func crontab(documents [][]byte, options Options) (Result, error) {
	c, text := newCollector(), string(slices.Concat(documents...))
	if !isCrontab(text) {
		return Result{}, errors.New("it is no crontab: no line has five fields and a command, or sets a variable")
	}
	taken, comment, zone, zoned := map[string]int{}, "", "", false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			comment = ""
			continue
		case strings.HasPrefix(line, "#"):
			comment = strings.TrimSpace(strings.TrimLeft(line, "#"))
			continue
		}
		if name, is := zoneLine(line); is {
			zone, zoned = name, true
			continue
		}
		if err := c.cronLine(line, comment, job{Timezone: zone, Retry: retryOf(options)}, taken); err != nil {
			c.lose("line %d: left out, because %v%s", i+1, err, gist(line))
		}
		comment = ""
	}
	if len(c.Documents) > 0 && !zoned {
		c.Notes = append(c.Notes, "Schedules are in UTC: shift those that were meant in another time zone, or set CRON_TZ in the file.")
	}
	return c.finish("crontab")
}

// isCrontab reports whether a text can be a crontab: an empty one, or one with a line that cron reads.
func isCrontab(text string) bool {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return false
	}
	empty := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		empty = false
		if scheduled.MatchString(line) || assignment.MatchString(line) {
			return true
		}
	}
	return empty
}

// scheduled matches the beginning of a line that has a schedule, right or wrong.
var scheduled = regexp.MustCompile(`^(@[a-z]+|([0-9*][0-9*,/~-]*\s+){2}([\w*,/#?~-]+\s+){3})`)

// assignment is a line that sets a variable.
var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\s*=`)

// zoneLine returns the zone of a line that sets CRON_TZ.
func zoneLine(line string) (string, bool) {
	name, text, is := strings.Cut(line, "=")
	return strings.Trim(strings.TrimSpace(text), `"'`), is && strings.TrimSpace(name) == "CRON_TZ"
}

// retryOf returns the retry that every job gets, or nil.
func retryOf(options Options) *retry {
	if options.Retry < 2 {
		return nil
	}
	return &retry{options.Retry}
}

// cronLine adds the job of a line. made has the members that all jobs share.
func (c *collector) cronLine(line, comment string, made job, taken map[string]int) error {
	if assignment.MatchString(line) {
		return fmt.Errorf("jobs have no variables")
	}
	schedule, command, err := cronSchedule(line)
	if err != nil {
		return err
	}
	if strings.Contains(strings.ReplaceAll(command, `\%`, ""), "%") {
		return fmt.Errorf("it has a %% that is a line break to cron")
	}
	call, err := parseCall(withoutUser(strings.ReplaceAll(command, `\%`, "%")))
	if err != nil {
		return err
	}
	if err := CheckSchedule(schedule, made.Timezone); err != nil {
		return err
	}
	id, sent := jobID(call.sent.URL, taken), call.sent
	for _, sentence := range call.dropped {
		c.lose("job %s: %s.", id, sentence)
	}
	for _, secret := range call.secrets() {
		variable := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(id + "_" + secret))
		sent.hide(secret, "env:"+variable)
		c.Notes = append(c.Notes, fmt.Sprintf("job %s: set %s where apply runs%s; the file does not have the credential.", id, variable, call.form(secret)))
	}
	shown, secret := withoutSecrets(sent.URL)
	if secret != "" {
		c.Notes = append(c.Notes, fmt.Sprintf("job %s: the parameter %s of its URL looks like a credential, and the file has its value. Send it in a header if the other side allows that.", id, secret))
	}
	name := cmp.Or(nameFrom(comment), sent.Method+" "+shown)
	made.Kind, made.ID, made.Name, made.Schedule, made.Configuration = "job", id, cut(name, 200), schedule, sent
	c.add("job", id, made)
	return nil
}

// cronSchedule splits a line into its schedule and its command.
func cronSchedule(line string) (schedule, command string, err error) {
	words := strings.Fields(line)
	if strings.HasPrefix(words[0], "@") {
		known := map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
			"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}
		schedule = known[words[0]]
		if schedule == "" {
			return "", "", fmt.Errorf("jobs have no schedule like %s", words[0])
		}
		return schedule, strings.TrimSpace(strings.TrimPrefix(line, words[0])), nil
	}
	const fields = 5
	if len(words) <= fields {
		return "", "", fmt.Errorf("it has no five fields and a command")
	}
	rest := line
	for range fields { // keeps the spelling of the command
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		rest = rest[strings.IndexFunc(rest, unicode.IsSpace):]
	}
	return strings.Join(words[:fields], " "), strings.TrimSpace(rest), nil
}

// CheckSchedule returns why the server would refuse cron fields or their zone. In a crontab, one refused job would stop the apply of all others.
func CheckSchedule(schedule, zone string) error {
	if _, err := time.LoadLocation(zone); err != nil || zone == "Local" {
		return fmt.Errorf("%q is no time zone", zone)
	}
	_, err := cron.Parse(schedule)
	return err
}

// systemLine matches a command of /etc/crontab, where the name of a user precedes it.
var systemLine = regexp.MustCompile(`^[a-z_][a-z0-9_.-]*\s+((?:/\S*/)?(?:curl|wget)\s)`)

// withoutUser removes the user of a line of /etc/crontab. In a user's own crontab, the word before curl is a program that runs
// curl, such as nice; it stays.
func withoutUser(command string) string {
	match := systemLine.FindStringSubmatchIndex(command)
	if match == nil || slices.Contains(runners(), strings.Fields(command)[0]) {
		return command
	}
	return command[match[2]:]
}

// runners returns the programs that run or print the command after their name.
func runners() []string {
	return []string{"chronic", "command", "doas", "echo", "env", "eval", "exec", "ionice", "nice", "nohup", "setsid", "sudo", "test", "time", "which"}
}

// notInID matches characters that are not allowed in an id.
var notInID = regexp.MustCompile(`[^a-z0-9]+`)

// jobID derives an id from a URL. It adds a number if the id is taken.
func jobID(address string, taken map[string]int) string {
	text, _, _ := strings.Cut(address, "?")
	if parsed, err := url.Parse(address); err == nil {
		text = parsed.Hostname() + parsed.Path
	}
	id := cut(strings.Trim(notInID.ReplaceAllString(strings.ToLower(text), "-"), "-"), 100)
	taken[id]++
	if taken[id] > 1 {
		return fmt.Sprintf("%s-%d", id, taken[id])
	}
	return id
}

// cut returns at most longest characters of a text.
func cut(text string, longest int) string {
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest])
	}
	return text
}

// hide replaces the value of a header with a reference.
func (r *request) hide(name, reference string) {
	for i := range r.Headers {
		if strings.EqualFold(r.Headers[i].Name, name) {
			r.Headers[i].Value, r.Headers[i].ValueFrom = "", reference
		}
	}
}
