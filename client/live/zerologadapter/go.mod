module github.com/signalbox/signalbox/client/live/zerologadapter

go 1.26.0

require (
	github.com/rs/zerolog v1.35.1
	github.com/signalbox/signalbox/client v0.0.0
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	github.com/mattn/go-colorable v0.1.14 // indirect
	github.com/mattn/go-isatty v0.0.20 // indirect
	golang.org/x/sys v0.29.0 // indirect
)

replace github.com/signalbox/signalbox/client => ../..
