/**
 * A real OpenID provider on loopback, for tests. Evaluated by Node with two arguments, the `node_modules` folder and the
 * options as JSON.
 *
 * Options: `redirectUri`, `clientId`, `clientSecret`, and `accounts`, which maps the login name to its claims.
 * Prints its issuer URL, and exits at the end of standard input.
 */
import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const [folder, options] = process.argv.slice(1);
const { redirectUri, clientId, clientSecret, accounts } = JSON.parse(options);
const library = pathToFileURL(`${folder}/oidc-provider/lib/index.js`);
const { Provider } = await import(library.href);

const scopes = "openid email profile groups";
const server = createServer();
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: [redirectUri], scope: scopes }],
  claims: {
    openid: ["sub"],
    email: ["email"],
    profile: ["given_name", "family_name", "picture"],
    groups: ["groups"],
  },
  scopes: scopes.split(" "),
  pkce: { required: () => true },
  cookies: { keys: ["of a test"] },
  findAccount: (_, name) => accounts[name] && { accountId: name, claims: () => ({ sub: name, ...accounts[name] }) },
  // Skips the consent form: the client is granted all scopes.
  async loadExistingGrant({ oidc }) {
    const { client, session } = oidc;
    const grant = new oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(scopes);
    await grant.save();
    return grant;
  },
});
server.on("request", provider.callback());
process.stdin.resume().on("end", () => process.exit());
console.log(issuer);
