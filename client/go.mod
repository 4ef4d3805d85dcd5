module github.com/signalbox/signalbox/client

go 1.26.0

require (
	github.com/google/go-cmp v0.7.0
	pgregory.net/rapid v1.3.0
)

require github.com/gorilla/websocket v1.5.3
