module github.com/signalbox/signalbox/client/live/zapadapter

go 1.26.0

require (
	github.com/signalbox/signalbox/client v0.0.0
	go.uber.org/zap v1.28.0
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	go.uber.org/multierr v1.10.0 // indirect
)

replace github.com/signalbox/signalbox/client => ../..
