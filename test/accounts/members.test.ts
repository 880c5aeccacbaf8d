import { beforeAll, describe, expect, test } from "vitest";
import { openKeyring } from "#infra/keyring.ts";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { tablesWith } from "../tables.ts";
import { openPeople, type People } from "./people.ts";

/* /api/members and /api/auth/password (decisions: accounts). */

let people: People;
beforeAll(async () => {
  people = await openPeople();
});

const who = async (call: People["owner"]) => {
  const { status, body } = await call("GET", "/auth/me");
  return status === 200 ? body.user.role : body.error.code;
};
const me = async () => (await people.owner("GET", "/auth/me")).body.user;

describe("a member", () => {
  test("is added, seen by everybody, and signs in with a password that is shown once", async () => {
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

  test("is added once under one idempotency key, and the password is not shown again", async () => {
    const once = { "idempotency-key": "member-1" };
    const body = { email: "once@example.com", name: "Once" };
    const { password, ...first } = (await people.add(body, people.owner, once)).body;
    const again = await people.add(body, people.owner, once);
    expect([again.status, again.body]).toEqual([201, first]);
    expect((await people.login("once@example.com", password)).status).toBe(200);
    const other = await people.add({ ...body, name: "Twice" }, people.owner, once);
    expectRefusal(other, 422, "idempotency_key_reused");
  });

  test("whose email is taken is not added, whoever has it; a removed one's is free", async () => {
    const { id, email } = await people.join("viewer");
    expectRefusal(await people.add({ email: email.toUpperCase() }), 409, "email_taken", "email");
    const elsewhere = await people.signIn(await people.service.organization("Elsewhere"));
    expectRefusal(await people.add({ email }, elsewhere), 409, "email_taken", "email");
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    expect((await people.add({ email }, elsewhere)).status).toBe(201);
  });

  test.each([
    [{ email: "x" }, "email"],
    [{ email: "a@b\u0000.example" }, "email"],
    [{ email: `${"e".repeat(320)}@example.com` }, "email"],
    [{ email: 5 }, "email"],
    [{ name: " " }, "name"],
    [{ role: "king" }, "role"],
    [{ role: undefined }, "role"],
  ])("is not added with %j", async (body, param) => expectRefusal(await people.add(body), 400, undefined, param));

  test("is given another role and name, which hold at once", async () => {
    const { id, call } = await people.join("viewer");
    for (const role of ["builder", "admin", "approver", "owner", "viewer"]) {
      const { body } = await people.owner("PATCH", `/members/${id}`, { role, name: role });
      expect(body).toMatchObject({ id, role, name: role });
      expect(await who(call)).toBe(role);
    }
  });

  test("who is deactivated is out at once and stays out; active again, the old sessions stay ended", async () => {
    const { id, email, password, call } = await people.join("admin");
    const turn = (active: boolean) => people.owner("PATCH", `/members/${id}`, { active });
    expect((await turn(false)).body.active).toBe(false);
    expect(await who(call)).toBe("invalid_session");
    const refused = await people.login(email, password);
    expect([refused.status, refused.body]).toEqual([401, (await people.login("nobody@example.com", "wrong")).body]);
    expect((await turn(true)).body.active).toBe(true);
    expect(await who(call)).toBe("invalid_session");
    const { token } = (await people.login(email, password)).body;
    expect(await who(clientOf({ chat: people.api }, token))).toBe("admin");
  });

  test("whose address was taken leaves a keyed mark of it in the log, which nobody can try addresses against", async () => {
    const { id, email } = await people.join("viewer");
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    const rows = await people.service.db.query<{ claim: string }>(
      `select data::json->>'email_claim' as claim from log.events
       where type in ('UserRegistered', 'UserRemoved') and data::json->>'user_id' = $1`,
      [id],
    );
    const mark = people.service.opened.keyring.mark("email", email);
    expect(rows).toEqual([{ claim: mark }, { claim: mark }]);
    expect(openKeyring(Buffer.alloc(32, 1)).mark("email", email)).not.toBe(mark);
  });

  test("who is removed is out at once and forgotten; what they have made stays", async () => {
    const { id, email, password, call } = await people.join("builder");
    const agent = (await call("POST", "/agents", { name: "Made" })).body;
    expect((await people.owner("DELETE", `/members/${id}`)).status).toBe(204);
    expect(await who(call)).toBe("invalid_session");
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

  test("of another organization does not exist, to the byte", async () => {
    const { id } = await people.join("viewer");
    const stranger = await people.signIn(await people.service.organization("Strangers"));
    const seen = async (member: string) => {
      const answers = [
        await stranger("GET", `/members/${member}`),
        await stranger("PATCH", `/members/${member}`, { role: "owner" }),
        await stranger("DELETE", `/members/${member}`),
        await stranger("POST", `/members/${member}/password`),
      ];
      return answers.map(({ status, text }) => [status, text]);
    };
    expect(await seen(id)).toEqual(await seen(UNKNOWN));
    expect((await stranger("GET", "/members")).body.total).toBe(1);
  });
});

describe("who may change whom", () => {
  test("an admin makes, changes and removes no owner, and does not become one", async () => {
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
    expect([await who(owner.call), await who(admin.call)]).toEqual(["owner", "admin"]);
    const { id } = await people.join("builder", admin.call);
    expect((await admin.call("PATCH", `/members/${id}`, { role: "admin" })).body.role).toBe("admin");
    expect((await admin.call("DELETE", `/members/${id}`)).status).toBe(204);
  });

  test("the last owner stays, also where two owners leave at the same moment", async () => {
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
    const still = (await who(first)) === "owner" ? first : second.call;
    const { data } = (await still("GET", "/members")).body;
    expect(data.filter(({ role, active }: any) => role === "owner" && active)).toHaveLength(1);
  });
});

describe("a password", () => {
  const change = (call: People["owner"], current_password: string, new_password: string) =>
    call("POST", "/auth/password", { current_password, new_password });

  test("is changed by its owner: other sessions end, and a new one begins", async () => {
    const { email, password, call } = await people.join("viewer");
    const other = clientOf({ chat: people.api }, (await people.login(email, password)).body.token);
    const { status, body } = await change(call, password, "a better password");
    expect([status, body.token]).toEqual([200, expect.stringMatching(/^sess-svc-/)]);
    expect([await who(call), await who(other)]).toEqual(["invalid_session", "invalid_session"]);
    expect(await who(clientOf({ chat: people.api }, body.token))).toBe("viewer");
    expect((await people.login(email, password)).status).toBe(401);
    expect((await people.login(email, "a better password")).status).toBe(200);
  });

  test("is changed only by who knows it, and guessing is throttled", async () => {
    const { password, call } = await people.join("viewer");
    expectRefusal(await change(call, password, "too short"), 400, undefined, "new_password");
    for (let n = 0; n < 10; n++)
      expectRefusal(await change(call, `wrong ${n}`, "a better password"), 400, "wrong_password", "current_password");
    expectRefusal(await change(call, password, "a better password"), 429, "too_many_attempts");
    expect(await who(call)).toBe("viewer");
  });

  test("is given anew by who manages members, and the sessions end", async () => {
    const { id, email, password, call } = await people.join("builder");
    const { status, body } = await people.owner("POST", `/members/${id}/password`);
    expect([status, body]).toEqual([200, { password: expect.stringMatching(/^[\w-]{20}$/) }]);
    expect(await who(call)).toBe("invalid_session");
    expect((await people.login(email, password)).status).toBe(401);
    expect((await people.login(email, body.password)).status).toBe(200);
    expectRefusal(await people.owner("POST", `/members/${(await me()).id}/password`), 403, "forbidden");
  });

  test("that changes while somebody signs in with the old one leaves no session of the old one", async () => {
    const { id, email, password } = await people.join("viewer");
    const attempts = Array.from({ length: 8 }, () => people.login(email, password));
    const reset = people.owner("POST", `/members/${id}/password`);
    const tokens = (await Promise.all(attempts)).flatMap(({ body }) => (body.token ? [body.token as string] : []));
    expect((await reset).status).toBe(200);
    for (const token of tokens) expect(await who(clientOf({ chat: people.api }, token))).toBe("invalid_session");
  });
});
