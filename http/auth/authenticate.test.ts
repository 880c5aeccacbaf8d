import { describe, expect, test } from "vitest";
import { callerFromKey, callerFromSession } from "./authenticate.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const HOUR = 3_600_000;
const at = (ms: number) => new Date(NOW + ms);
const refused = (code: string) => expect.objectContaining({ errorCode: code, status: 401 });

describe("an API key", () => {
  const key = {
    id: "k1",
    organization_id: "o1",
    name: "",
    key_hint: "",
    project_id: null,
    products: [],
    enabled: true,
    expires_at: null,
    allowed_models: null,
    client_tools: false,
    last_used_at: null,
    created_at: at(0),
    updated_at: at(0),
    parked: false,
  };

  test("identifies its caller", () => {
    expect(callerFromKey(key, NOW)).toMatchObject({ organization_id: "o1", principal: "key:k1", session: undefined });
    expect(callerFromKey({ ...key, expires_at: at(1) }, NOW).principal).toBe("key:k1");
  });

  test.each([
    ["invalid_api_key", undefined, "is unknown"],
    ["invalid_api_key", { ...key, parked: true }, "has a parked read model"],
    ["api_key_disabled", { ...key, enabled: false }, "is disabled"],
    ["api_key_disabled", { ...key, enabled: false, expires_at: at(-1) }, "is disabled and has expired"],
    ["expired_api_key", { ...key, expires_at: at(0) }, "has expired"],
  ])("is refused with $0 when it $2", (code, row, _when) =>
    expect(() => callerFromKey(row, NOW)).toThrow(refused(code)),
  );
});

describe("a session", () => {
  const session = {
    session_id: "s1",
    user_id: "u1",
    organization_id: "o1",
    role: "owner" as const,
    email: "",
    name: "",
    organization_name: "",
    expires_at: at(HOUR),
    idle_since: at(-11 * HOUR),
    parked: false,
  };

  test("identifies its person", () =>
    expect(callerFromSession(session, NOW)).toMatchObject({ principal: "person:u1", allowed_models: null }));

  test.each([
    ["is unknown", undefined],
    ["has a parked read model", { ...session, parked: true }],
    ["has expired", { ...session, expires_at: at(0) }],
    ["was not used for 12 hours", { ...session, idle_since: at(-12 * HOUR) }],
  ])("is refused when it %s", (_name, row) =>
    expect(() => callerFromSession(row, NOW)).toThrow(refused("invalid_session")),
  );
});
