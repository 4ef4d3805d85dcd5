// Package webhooks tells other systems what happens in an account: which events a webhook gets, how its messages look and are
// signed, and what an answer changes. It does not send messages: a worker of package worker does, with the claims, leases and
// limits of runs, but in a share of its own.
//
// # From an event to a delivery
//
// An event is a recorded change, a failed run, a reminder, a silent service, used-up runs, or a test. The transaction
// that records it also stores its deliveries, one for each webhook that matches: an event is sent if and only if it
// happened. Accounts without webhooks are known by a number in the account's row, which that transaction writes anyway.
//
// The id of a delivery is a function of the webhook and the event, and stays the same for every attempt, so that a
// receiver can ignore what it has seen. Deliveries are not ordered: a failing one delays no other.
//
// # The states of a delivery
//
//	                     due            claim           2xx
//	          waiting ─────────▶ pending ─────▶ sending ─────▶ delivered
//	             ▲                  ▲              │
//	             │                  ╰─ node gone ──┤
//	             ╰────── another attempt ──────────┤
//	                                               ╰─ last attempt, or 410 ─▶ failed
//
//	waiting, pending ── webhook disabled ──▶ canceled
//	waiting, pending ── more than MaxUnfinished of the webhook, oldest first ──▶ failed
//	delivered, failed, canceled, waiting for another attempt ── redeliver ──▶ pending
//
//	answer              state of the delivery                          webhook
//	2xx                 delivered                                      ok
//	410                 failed                                         disabled
//	429, 503            waiting, not before Retry-After (24 h at most) failing
//	anything else       waiting; failed after the 8th attempt          failing
//	after five days     failed                                         disabled
//	of failures only
//
// Attempts are made at once, then after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h, ±10 %. No answer within 15 s, a redirect and
// a refused address are failures like any other. If a node dies, another one sends its deliveries again: delivery is at least
// once. A disabled webhook gets no events, and its unsent deliveries are canceled. A write that enables the webhook lets it get
// new events again.
//
// # Messages that join events
//
// The first event for a chat waits 30 s for others of the same webhook and the same host, or kind. Their deliveries are
// joined to the first one and sent in its message. The joined ones are never claimed. A transaction that joins a delivery
// locks the first one's row, so that it is not claimed before the joined one is stored. PagerDuty joins nothing: each
// incident is resolved on its own.
//
// # The courier
//
// A Courier releases waiting deliveries when they are due, ends the oldest of a webhook that has too many, and finds services that have become silent: every minute it notes
// which services are connected. An hour after a service was last seen, it records the event, unless the service has reported
// since. A node tells this only after an hour of checks without a long pause: while the server or its database is away, no
// service can report. It works only for accounts with webhooks. Nodes skip rows that another node has locked.
package webhooks
