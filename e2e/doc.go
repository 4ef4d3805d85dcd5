// Package e2e tests the built program from the outside: its command line, its
// signals, its files and its HTTP interface, on both databases.
//
// # Scripts
//
// The scripts in testdata read like terminal sessions. Those in testdata/both
// run on SQLite and on PostgreSQL, those in testdata/postgres on PostgreSQL
// alone. Each gets an empty database and an empty data folder, and these
// commands beside those of testscript:
//
//	signalbox ARGUMENT…          runs the program; ! in front expects it to fail
//	exits CODE signalbox …       the same, with the exit code that is expected
//	serve [@NAME] [A=B…] FLAG…   starts a server and waits until it is ready; what it
//	                             printed is in stdout and stderr, its URL in $URL
//	                             (or $URL_NAME). ! in front expects it to refuse.
//	terminate [@NAME] [-INT]     sends SIGTERM, or SIGINT; the server must exit with 0
//	crash [@NAME]                sends SIGKILL
//	http [@NAME] [OPTION…] METHOD PATH [BODY] STATUS
//	                             sends a request with the key $KEY; the body of the
//	                             answer is in stdout, its headers in stderr. BODY is a
//	                             JSON text or the name of a file. Options:
//	                             -key KEY, -header 'A: b', -ca FILE, -until TEXT, and -within D to
//	                             repeat until the status is the expected one
//	json POINTER VALUE           compares a part of the JSON text in stdout; a step of
//	                             the pointer may be [member=text], the first item of a
//	                             list whose member has that text. ! json POINTER
//	                             expects that there is nothing
//	count POINTER NUMBER         compares the length of a list
//	let NAME POINTER|FILE        sets a variable from the JSON text in stdout, or from
//	                             a file
//	mode PERMISSIONS FILE        compares the permissions of a file
//	certificate CERT KEY         writes a certificate for 127.0.0.1 and its key
//	sql STATEMENT                runs a statement on the database
//	wipe                         empties the PostgreSQL database
//	outage [cut|over]            makes the PostgreSQL database unreachable, only cuts its
//	                             connections, or ends the outage
//	cookie NAME                  sets a variable to the session that the last request was given
//	token NAME                   sets a variable to the token of the link in stdout
//	everyroute [@NAME]           compares the routes that a server has answered on,
//	                             by its log, with all routes
//
// The conditions [sqlite] and [postgres] tell the databases apart.
package e2e
