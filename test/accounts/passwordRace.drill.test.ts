import { expect, test, vi } from "vitest";
import { expectRefusal } from "../hostile/target.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { openPeople } from "./people.ts";

const NETWORKS = 40;

test("a password that an owner sets wins over a change of the password that was under way", async () => {
  const people = await openPeople({ TRUST_PROXY: "127.0.0.1" });
  const { id, email, password, call } = await people.join("viewer");
  let answered = 0;
  // strangers from many networks, so that the change waits for its turn between its two hashes
  const strangers = Array.from({ length: 4 * NETWORKS }, (_, n) =>
    people
      .login(`stranger-${n}@example.com`, "wrong", { "x-forwarded-for": `192.0.2.${n % NETWORKS}` })
      .then(() => answered++),
  );
  await vi.waitFor(() => expect(answered).toBeGreaterThan(10), { timeout: 60_000 });
  const change = { current_password: password, new_password: "a new long password" };
  const [changed, reset] = await Promise.all([
    call("POST", "/auth/password", change),
    people.owner("POST", `/members/${id}/password`),
  ]);
  expect(reset.status).toBe(200);
  expectRefusal(changed, 401, "invalid_session");
  expect((await people.login(email, change.new_password)).status).toBe(401);
  expect((await people.login(email, reset.body.password)).status).toBe(200);
  await Promise.all(strangers);
});

test("a password that an owner sets wins although the read models do not have it yet when the member changes it", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment, roles: ["services", "http"] });
  const projections = await startPlatform({ deployment, roles: ["projections"] });
  const signIn = async (who: object) => {
    const login = await clientOf({ chat: `${platform.url}/api` }, "")("POST", "/auth/login", who);
    return { ...login, call: clientOf({ chat: `${platform.url}/api` }, login.body.token ?? "") };
  };
  const { call: owner } = await signIn((await platform.organization()).admin);
  const email = "hopper@lag.example";
  const { body: created } = await owner("POST", "/members", { email, name: "Hopper", role: "viewer" });
  const { call: member } = await signIn({ email, password: created.password });
  // waits until the session is in its read model
  expect((await member("GET", "/auth/me")).status).toBe(200);
  await projections.stop();

  expect((await owner("POST", `/members/${created.id}/password`)).status).toBe(503);
  const change = { current_password: created.password, new_password: "a new long password" };
  expectRefusal(await member("POST", "/auth/password", change), 401, "invalid_session");

  await startPlatform({ deployment, roles: ["projections"] });
  for (const password of [change.new_password, created.password])
    expect((await signIn({ email, password })).status).toBe(401);
  expect((await member("GET", "/auth/me")).status).toBe(401);
});
