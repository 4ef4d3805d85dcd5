module github.com/signalbox/signalbox/client/openfeature

go 1.26.0

require (
	github.com/open-feature/go-sdk v1.20.0
	github.com/signalbox/signalbox/client v0.0.0
)

require (
	github.com/gorilla/websocket v1.5.3 // indirect
	go.uber.org/mock v0.6.0 // indirect
)

replace github.com/signalbox/signalbox/client => ../
