import { describe, expect, test } from "vitest";
import { callerOfKey, callerOfSession } from "./authenticate.ts";

const NOW = Date.parse("2026-06-01T00:00:00Z");
const HOUR = 3_600_000;
const at = (ms: number) => new Date(NOW + ms);
const refused = (code: string) => expect.objectContaining({ errorCode: code, status: 401 });

describe("a key", () => {
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
    last_used_at: null,
    created_at: at(0),
    updated_at: at(0),
    parked: false,
  };

  test("names its caller", () => {
    expect(callerOfKey(key, NOW)).toMatchObject({ organization_id: "o1", principal: "key:k1", session: undefined });
    expect(callerOfKey({ ...key, expires_at: at(1) }, NOW).principal).toBe("key:k1");
  });

  test.each([
    ["invalid_api_key", undefined],
    ["invalid_api_key", { ...key, parked: true }],
    ["api_key_disabled", { ...key, enabled: false }],
    ["api_key_disabled", { ...key, enabled: false, expires_at: at(-1) }],
    ["expired_api_key", { ...key, expires_at: at(0) }],
  ])("%s", (code, row) => expect(() => callerOfKey(row, NOW)).toThrow(refused(code)));
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

  test("names its person", () =>
    expect(callerOfSession(session, NOW)).toMatchObject({ principal: "person:u1", allowed_models: null }));

  test.each([
    ["unknown", undefined],
    ["parked", { ...session, parked: true }],
    ["past its end", { ...session, expires_at: at(0) }],
    ["not used for 12 hours", { ...session, idle_since: at(-12 * HOUR) }],
  ])("%s is invalid", (_name, row) => expect(() => callerOfSession(row, NOW)).toThrow(refused("invalid_session")));
});
