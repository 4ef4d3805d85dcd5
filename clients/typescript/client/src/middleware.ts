// Sets contexts for the requests of web frameworks.

import { type Contexts, withContext } from "./context.js";

/** Returns middleware for Express, and the same function as a hook for Fastify, that evaluates flags for the contexts of a
 * request:
 *
 *     app.use(contextMiddleware((request) => ({ user: { key: request.user.id } })));          // Express
 *     app.addHook("preHandler", contextMiddleware((request) => ({ user: request.user.id })));  // Fastify
 */
export function contextMiddleware<R>(contexts: (request: R) => Contexts): (request: R, response: unknown, next: () => void) => void {
  return (request, _response, next) => withContext(contexts(request), () => next());
}

/** Returns a handler of a request, such as a route of Next.js, that evaluates flags for the contexts of the request:
 *
 *     export const GET = contextHandler((request) => ({ user: userOf(request) }), async () => Response.json(checkout()));
 */
export function contextHandler<R, A extends unknown[], T>(
  contexts: (request: R) => Contexts | Promise<Contexts>,
  handler: (request: R, ...rest: A) => T | Promise<T>,
): (request: R, ...rest: A) => Promise<T> {
  return async (request, ...rest) => {
    const found = await contexts(request);
    return withContext(found, () => handler(request, ...rest));
  };
}
