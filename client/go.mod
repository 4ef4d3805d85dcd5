module github.com/signalbox/signalbox/client

go 1.26.0
