import { describe, expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import { openPeople, type People } from "./people.ts";

/* /api/members and /api/auth/password. */

const people = await openPeople();

const roleOrError = async (call: People["owner"]) => {
  const { status, body } = await call("GET", "/auth/me");
  return status === 200 ? body.user.role : body.error.code;
};
const me = async () => (await people.owner("GET", "/auth/me")).body.user;

describe("a member", () => {
  test("can be added, is visible to everybody, and signs in with a password that is shown only once", async () => {
    const { status, body } = await people.add({ email: " Ada@Example.COM ", name: "Ada", role: "builder" });
    expect(status).toBe(201);
    const { password, ...shown } = body;
    expect(password).toMatch(/^[\w-]{20}$/);
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: "ada@example.com",
      name: "Ada",
      role: "builder",
      active: true,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { body: session } = await people.login("ada@example.com", password);
    expect(session.user).toEqual({ id: body.id, email: "ada@example.com", name: "Ada", role: "builder" });
    const ada = clientOf({ chat: people.api }, session.token);
    expect((await ada("GET", `/members/${body.id}`)).body).toEqual(shown);
    const list = (await ada("GET", "/members?limit=500")).body;
    expect(list.data).toEqual(expect.arrayContaining([shown, expect.objectContaining({ role: "owner" })]));
    expect(list.total).toBe(list.data.length);
    expect(JSON.stringify(list)).not.toMatch(/password|argon/);
  });

  test("is added once per idempotency key, and the password is not shown again", async () => {
    const once = { "idempotency-key": "member-1" };
    const body = { email: "once@example.com", name: "Once" };
    const { password, ...first } = (await people.add(body, people.owner, once)).body;
    const again = await people.add(body, people.owner, once);
    expect([again.status, again.body]).toEqual([201, first]);
    expect((await people.login("once@example.com", password)).status).toBe(200);
    const other = await people.add({ ...body, name: "Twice" }, people.owner, once);
    expectRefusal(other, 422, "idempotency_key_reused");
  });

  test("cannot have the email address of another member, until that member is removed", async () => {
    const { id, email } = await people.join("viewer");
    expectRefusal(await people.add({ email: email.toUpperCase() }), 409, "email_taken", "email");
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    expect((await people.add({ email })).status).toBe(201);
  });

  test("can have an email address of another organization's member, and signs in with either password", async () => {
    const { email, password } = await people.join("viewer");
    const credentials = await people.service.organization("Elsewhere");
    const elsewhere = await people.signIn(credentials);
    const second = await people.add({ email, role: "builder" }, elsewhere);
    expect(second.status).toBe(201);
    const home = people.service.credentials.organization_id;
    const away = credentials.organization_id;
    const organizationOf = async (secret: string, organization?: string) => {
      const { status, body } = await people.key("POST", "/auth/login", { email, password: secret, organization });
      return status === 200 ? body.organization.id : [status, body.error.code];
    };
    expect(await organizationOf(password)).toBe(home);
    expect(await organizationOf(second.body.password)).toBe(away);
    expect(await organizationOf(password, away)).toEqual([401, "invalid_credentials"]);
    expect(await organizationOf(password, UNKNOWN)).toEqual([401, "invalid_credentials"]);

    const { token } = (await people.login(email, second.body.password)).body;
    const change = { current_password: second.body.password, new_password: password };
    expect((await clientOf({ chat: people.api }, token)("POST", "/auth/password", change)).status).toBe(200);
    expect(await organizationOf(password)).toEqual([400, "organization_required"]);
    expect([await organizationOf(password, home), await organizationOf(password, away)]).toEqual([home, away]);
  });

  test.each([
    [{ email: "x" }, "email"],
    [{ email: "a@b\u0000.example" }, "email"],
    [{ email: `${"e".repeat(320)}@example.com` }, "email"],
    [{ email: 5 }, "email"],
    [{ name: " " }, "name"],
    [{ role: "king" }, "role"],
    [{ role: undefined }, "role"],
  ])("is refused with %j", async (body, param) => expectRefusal(await people.add(body), 400, undefined, param));

  test("has a changed role and name from the next request on", async () => {
    const { id, call } = await people.join("viewer");
    for (const role of ["builder", "admin", "approver", "owner", "viewer"]) {
      const { body } = await people.owner("PATCH", `/members/${id}`, { role, name: role });
      expect(body).toMatchObject({ id, role, name: role });
      expect(await roleOrError(call)).toBe(role);
    }
  });

  test("loses all sessions when deactivated, and does not get them back when reactivated", async () => {
    const { id, email, password, call } = await people.join("admin");
    const setActive = (active: boolean) => people.owner("PATCH", `/members/${id}`, { active });
    expect((await setActive(false)).body.active).toBe(false);
    expect(await roleOrError(call)).toBe("invalid_session");
    const refused = await people.login(email, password);
    expect([refused.status, refused.body]).toEqual([401, (await people.login("nobody@example.com", "wrong")).body]);
    expect((await setActive(true)).body.active).toBe(true);
    expect(await roleOrError(call)).toBe("invalid_session");
    const { token } = (await people.login(email, password)).body;
    expect(await roleOrError(clientOf({ chat: people.api }, token))).toBe("admin");
  });

  test("leaves only a keyed hash of the email address in the log, which nobody can check without the key", async () => {
    const { id, email } = await people.join("viewer");
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    const rows = await people.service.db.query<{ claim: string }>(
      `select data::json->>'email_claim' as claim from log.events
       where type in ('UserRegistered', 'UserRemoved') and data::json->>'user_id' = $1`,
      [id],
    );
    const hash = people.service.opened.keyring.keyedHash("email", email);
    expect(rows).toEqual([{ claim: hash }, { claim: hash }]);
    expect(openKeyring(Buffer.alloc(32, 1)).keyedHash("email", email)).not.toBe(hash);
  });

  test("loses all sessions and personal data at once when removed, and the agents that the member created remain", async () => {
    const { id, email, password, call } = await people.join("builder");
    const agent = (await call("POST", "/agents", { name: "Made" })).body;
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    expect(await roleOrError(call)).toBe("invalid_session");
    expect((await people.login(email, password)).status).toBe(401);
    for (const method of ["GET", "PATCH", "DELETE"])
      expectRefusal(
        await people.owner(method, `/members/${id}`, method === "PATCH" ? {} : undefined),
        404,
        "member_not_found",
        "id",
      );
    expect((await people.owner("GET", `/agents/${agent.id}`)).status).toBe(200);
    await expect.poll(() => tablesWith(people.service.db, email)).toEqual([]);
  });
});

describe("managing owners", () => {
  test("an admin can neither create, change nor remove an owner, nor become one", async () => {
    const admin = await people.join("admin");
    const owner = await people.join("owner");
    const answers = [
      await people.add({ role: "owner" }, admin.call),
      await admin.call("PATCH", `/members/${owner.id}`, { role: "viewer" }),
      await admin.call("PATCH", `/members/${owner.id}`, { active: false }),
      await admin.call("DELETE", `/members/${owner.id}`),
      await admin.call("POST", `/members/${owner.id}/password`),
      await admin.call("PATCH", `/members/${admin.id}`, { role: "owner" }),
    ];
    for (const answer of answers) expectRefusal(answer, 403, "forbidden");
    expect([await roleOrError(owner.call), await roleOrError(admin.call)]).toEqual(["owner", "admin"]);
    const { id } = await people.join("builder", admin.call);
    expect((await admin.call("PATCH", `/members/${id}`, { role: "admin" })).body.role).toBe("admin");
    expect((await admin.call("DELETE", `/members/${id}`)).status).toBe(204);
  });

  test("the last active owner cannot leave, even if two owners leave at the same moment", async () => {
    const alone = await people.service.organization("Alone");
    const first = await people.signIn(alone);
    const { id } = (await first("GET", "/auth/me")).body.user;
    for (const answer of [
      await first("PATCH", `/members/${id}`, { role: "admin" }),
      await first("PATCH", `/members/${id}`, { active: false }),
      await first("DELETE", `/members/${id}`),
    ])
      expectRefusal(answer, 409, "last_owner");
    const second = await people.join("owner", first);
    const leaving = await Promise.all([
      first("PATCH", `/members/${id}`, { role: "viewer" }),
      second.call("DELETE", `/members/${second.id}`),
    ]);
    expect(leaving.map(({ status }) => status).filter((status) => status < 300)).toHaveLength(1);
    const still = (await roleOrError(first)) === "owner" ? first : second.call;
    const { data } = (await still("GET", "/members")).body;
    expect(data.filter(({ role, active }: any) => role === "owner" && active)).toHaveLength(1);
  });
});

describe("a password", () => {
  const change = (call: People["owner"], current_password: string, new_password: string) =>
    call("POST", "/auth/password", { current_password, new_password });

  test("can be changed by its owner, which ends all sessions and starts a new one", async () => {
    const { email, password, call } = await people.join("viewer");
    const other = clientOf({ chat: people.api }, (await people.login(email, password)).body.token);
    const { status, body } = await change(call, password, "a better password");
    expect([status, body.token]).toEqual([200, expect.stringMatching(/^sess-svc-/)]);
    expect([await roleOrError(call), await roleOrError(other)]).toEqual(["invalid_session", "invalid_session"]);
    expect(await roleOrError(clientOf({ chat: people.api }, body.token))).toBe("viewer");
    expect((await people.login(email, password)).status).toBe(401);
    expect((await people.login(email, "a better password")).status).toBe(200);
  });

  test("can be changed only with the current password, and guessing is throttled", async () => {
    const { password, call } = await people.join("viewer");
    expectRefusal(await change(call, password, "too short"), 400, undefined, "new_password");
    for (let n = 0; n < 10; n++)
      expectRefusal(await change(call, `wrong ${n}`, "a better password"), 400, "wrong_password", "current_password");
    expectRefusal(await change(call, password, "a better password"), 429, "too_many_attempts");
    expect(await roleOrError(call)).toBe("viewer");
  });

  test("can be reset by an admin, which ends the sessions of the member", async () => {
    const { id, email, password, call } = await people.join("builder");
    const { status, body } = await people.owner("POST", `/members/${id}/password`);
    expect([status, body]).toEqual([200, { password: expect.stringMatching(/^[\w-]{20}$/) }]);
    expect(await roleOrError(call)).toBe("invalid_session");
    expect((await people.login(email, password)).status).toBe(401);
    expect((await people.login(email, body.password)).status).toBe(200);
    expectRefusal(await people.owner("POST", `/members/${(await me()).id}/password`), 403, "forbidden");
  });

  test("that is reset during sign-ins with the old password leaves no session of the old password", async () => {
    const { id, email, password } = await people.join("viewer");
    const attempts = Array.from({ length: 8 }, () => people.login(email, password));
    const reset = people.owner("POST", `/members/${id}/password`);
    const tokens = (await Promise.all(attempts)).flatMap(({ body }) => (body.token ? [body.token as string] : []));
    expect((await reset).status).toBe(200);
    for (const token of tokens)
      expect(await roleOrError(clientOf({ chat: people.api }, token))).toBe("invalid_session");
  });
});
