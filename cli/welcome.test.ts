import { expect, test } from "vitest";
import { readSettings } from "#infra/config.ts";
import { formatWelcome } from "./welcome.ts";

const CREDENTIALS = {
  base_url: "http://h",
  organization_id: "o",
  api_key: "sk-svc-secret",
  agent_id: "a",
  admin: { email: "admin@o.example", password: "hidden" },
};

test("the addresses of a NATS cluster are shown without passwords where a log may keep them", () => {
  const NATS_URL = "nats://svc:hidden@a:4222, nats://b:4222,tls://svc:hidden@[::1]:4222";
  const welcome = { address: "http://h", nats_url: NATS_URL, showSecrets: false, link: "http://h/console/" };
  const printed = formatWelcome(readSettings({ NATS_URL }), welcome, CREDENTIALS);
  expect(printed).toContain("nats://a:4222,nats://b:4222,tls://[::1]:4222, subjects svc.evt.v1.>");
  expect(printed).not.toMatch(/hidden|secret/);
});
