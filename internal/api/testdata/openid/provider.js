// An OpenID Connect provider for tests: the certified oidc-provider with its own forms, and
// people whom the test describes. It prints its issuer once it listens.
import http from 'node:http';

import { Provider } from 'oidc-provider';

const people = new Map(); // what is said of somebody, by the name they sign in with
const now = Date.now;
let ahead = 0; // how far this clock is ahead, in milliseconds

Date.now = () => now() + ahead;

const server = http.createServer();
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const client = { application_type: 'native', redirect_uris: ['http://127.0.0.1/auth/oidc/callback'] };
  const provider = new Provider(issuer, {
    clients: [
      { ...client, client_id: 'signalbox', client_secret: 'a secret of tests only' },
      { ...client, client_id: 'public', token_endpoint_auth_method: 'none' },
    ],
    scopes: ['openid', 'email', 'profile', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    pkce: { required: () => true },
    findAccount: (ctx, sub) => ({ accountId: sub, claims: () => ({ ...people.get(sub), sub }) }),
  });
  const answer = provider.callback();
  server.on('request', (request, response) => {
    const [, control, name] = request.url.match(/^\/test\/(people|ahead)\/(.*)$/) ?? [];
    if (!control) return answer(request, response);
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      if (control === 'people') people.set(decodeURIComponent(name), JSON.parse(body));
      else ahead = Number(name) * 1000;
      response.end();
    });
  });
  console.log(issuer);
});

// The test that started it ends it by closing its input, also when the test itself is killed.
process.stdin.on('end', () => process.exit(0)).resume();
