module github.com/signalbox/signalbox/client/live/logrusadapter

go 1.26.0

require (
	github.com/signalbox/signalbox/client v0.0.0
	github.com/sirupsen/logrus v1.10.2
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	golang.org/x/sys v0.13.0 // indirect
)

replace github.com/signalbox/signalbox/client => ../..
