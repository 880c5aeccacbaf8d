import { beforeAll, expect, test } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf, fileForm, say } from "../http/service.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";

/* No projector runs: writes are answered all the same, and no read is stale. */

type Client = ReturnType<typeof clientOf>;
let deployment: Deployment;
let base: string;
let key: Client;
let person: Client;
let keyId: string;
let admin: { email: string; password: string };
let projections: Awaited<ReturnType<typeof startPlatform>>;

beforeAll(async () => {
  deployment = await testDeployment();
  projections = await startPlatform({ roles: ["projections"], deployment });
  const platform = await startPlatform({ roles: ["http", "services"], deployment });
  const made = await platform.organization();
  admin = made.admin;
  base = platform.url;
  const client = (token: string) => clientOf({ chat: `${base}/api/openai/v1` }, token);
  key = client(made.api_key);
  person = client((await client("")("POST", `${base}/api/auth/login`, admin)).body.token);
  keyId = (await person("POST", `${base}/api/keys`, { name: "known" })).body.id;
  await projections.stop();
});

const upload = (name: string) => key("POST", "/files", fileForm("words", name), { "idempotency-key": name });
const api = (path: string) => `${base}/api${path}`;
const configure = (models: string[]) =>
  person("PUT", api("/providers/mine"), { api_key: "k", base_url: "http://127.0.0.1:9/v1", models });

test("while projections lag, writes succeed, stale reads get a 503, and all data appears later", async () => {
  const [made, file, provider, session, promise] = await Promise.all([
    person("POST", api("/keys"), { name: "new", products: ["knowledge"], expires_at: "2099-01-01T02:00:00+02:00" }),
    upload("a.txt"),
    configure(["m"]),
    person("POST", api("/auth/login"), admin),
    person("PATCH", api(`/keys/${keyId}`), { enabled: false }),
  ]);
  expect([made, file, provider, session].map(({ status }) => status)).toEqual([201, 201, 200, 200]);
  expect([made.body.key, session.body.token]).toEqual([
    expect.stringMatching(/^sk-svc-/),
    expect.stringMatching(/^sess-svc-/),
  ]);
  // a key that goes on working must not be called disabled
  expectRefusal(promise, 503, "unavailable");

  const content = `/files/${file.body.id}/content`;
  const withNew = clientOf({ chat: `${base}/api/openai/v1` }, made.body.key);
  const withSession = clientOf({ chat: base }, session.body.token);
  const reads = () => [
    key("GET", `/files/${file.body.id}`),
    key("GET", content),
    key("GET", "/files"),
    key("POST", "/chat/completions", say("read it", { attachments: [file.body.id] })),
    person("GET", api("/keys")),
    person("GET", api("/providers")),
    person("GET", api("/providers/mine")),
    person("PATCH", api(`/keys/${made.body.id}`), { name: "newer" }),
    withNew("GET", "/models"),
    withSession("GET", api("/auth/me")),
  ];
  for (const answer of await Promise.all([...reads(), upload("a.txt")])) expectRefusal(answer, 503, "unavailable");
  expect((await key("POST", "/chat/completions", say("as ever"))).body.choices[0].message.content).toBe("as ever");
  expect((await key("GET", "/files/01900000-0000-7000-8000-000000000000")).status).toBe(404);

  await startPlatform({ roles: ["projections"], deployment });
  const after = await Promise.all(reads());
  expect(after.map(({ status }) => status)).toEqual(after.map(() => 200));
  expect(after[0]!.body).toEqual(file.body);
  expect(after[1]!.text).toBe("words");
  const { key: _, ...shown } = made.body;
  expect(after[4]!.body.data).toContainEqual(
    expect.objectContaining({ ...shown, updated_at: expect.any(String), name: expect.stringMatching(/^newe?r?$/) }),
  );
  expect(after[6]!.body).toEqual(provider.body);
  expect((await person("GET", api("/keys"))).body.data).toContainEqual(
    expect.objectContaining({ id: keyId, enabled: false }),
  );
  expect((await upload("a.txt")).body).toEqual(file.body);
});
