import { contextHandler } from "@signalbox/client";
import { checkout, log } from "../signalbox";

const contextsOf = (request) => ({ user: { key: "alice", plan: request.headers.get("x-plan") ?? "free" } });

export const GET = contextHandler(contextsOf, async () => Response.json({ new: checkout(), level: log.level }));
