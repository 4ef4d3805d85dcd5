package levelfiles

import "github.com/signalbox/signalbox/client/loglevel"

// The levels that Python's logging has no name for. No record has the level of SILENT.
const (
	pythonTrace  = 5
	pythonSilent = 100
)

// JSON writes an object with the level of every logger.
func JSON(loggers []Logger, _ Options) []byte {
	levels := map[string]string{}
	each(loggers, func(name string, level loglevel.Level) {
		if level != loglevel.None {
			levels[name] = level.String()
		}
	})
	return encode(levels)
}

type pythonLogger struct {
	Level any `json:"level"`
}

// Python writes an incremental configuration for logging.config.dictConfig.
func Python(loggers []Logger, _ Options) []byte {
	document := struct {
		Version     int                     `json:"version"`
		Incremental bool                    `json:"incremental"`
		Root        *pythonLogger           `json:"root,omitempty"`
		Loggers     map[string]pythonLogger `json:"loggers"`
	}{1, true, nil, map[string]pythonLogger{}}
	each(loggers, func(name string, level loglevel.Level) {
		switch {
		case !isRoot(name):
			document.Loggers[name] = pythonLogger{pythonLevel(level)}
		case level != loglevel.None:
			document.Root = &pythonLogger{pythonLevel(level)}
		}
	})
	return encode(document)
}

// pythonLevel returns a level as dictConfig reads it: a name, or a number.
func pythonLevel(level loglevel.Level) any {
	switch level {
	case loglevel.None:
		return "NOTSET"
	case loglevel.Trace:
		return pythonTrace
	case loglevel.Warn:
		return "WARNING"
	case loglevel.Fatal:
		return "CRITICAL"
	case loglevel.Silent:
		return pythonSilent
	}
	return level.String()
}
