import type { FastifyRequest } from "fastify";
import { describe, expect, test } from "vitest";
import type { TriggerInUse } from "#projections/triggers/query.ts";
import { hashToken } from "../auth/bearer.ts";
import type { Http } from "../base/deps.ts";
import { readExternalUser, requireSecret, requireSecretOrScheme } from "./hookAuth.ts";

const TOKEN = "t".repeat(24);
const SIGNED = { verify: { scheme: "slack" } } as Partial<TriggerInUse>;

/** A hook whose trigger has these fields, and a request with a secret. */
function open(fields: Partial<TriggerInUse> = {}, secret = "secret") {
  const trigger = { enabled: true, parked: false, verify: null, secret_hash: hashToken("secret"), ...fields };
  const asked: string[] = [];
  const http = {
    settings: { SERVICE_NAME: "svc" },
    findTriggerByToken: async (token: string) => {
      asked.push(token);
      return trigger as TriggerInUse;
    },
    waitUntilCurrent: async () => {},
  } as unknown as Http;
  const rawHeaders = secret === "" ? [] : ["Authorization", `Bearer ${secret}`];
  const request = { params: { hook_token: TOKEN }, raw: { rawHeaders } } as unknown as FastifyRequest;
  return { trigger, asked, http, request };
}

describe.each([
  ["of a poll", requireSecret],
  ["of a start", requireSecretOrScheme],
] as const)("a request %s", (_, requirement) => {
  test("is let in by the secret, after one look-up of its trigger", async () => {
    const { http, request, trigger, asked } = open();
    await requirement(http)(request);
    expect(request.trigger).toBe(trigger);
    expect(asked).toEqual([TOKEN]);
  });

  test("that takes long is refused once the secret is rotated or the trigger disabled", async () => {
    const { http, request, trigger } = open();
    await requirement(http)(request);
    trigger.secret_hash = hashToken("another");
    await expect(request.recheckCredential!()).rejects.toMatchObject({ errorCode: "invalid_webhook_secret" });
    trigger.enabled = false;
    await expect(request.recheckCredential!()).rejects.toMatchObject({ errorCode: "trigger_not_found" });
  });

  test("without a secret learns nothing about the hook", async () => {
    for (const fields of [{}, { enabled: false }, { parked: true }]) {
      const { http, request } = open(fields, "");
      await expect(requirement(http)(request)).rejects.toMatchObject({ errorCode: "missing_webhook_secret" });
    }
  });
});

test("a secret in its header counts beside the Authorization of a proxy, and not beside another secret", async () => {
  const { http, request } = open();
  const ask = (authorization: string) => {
    request.raw.rawHeaders = ["Authorization", authorization, "x-svc-webhook-secret", "secret"];
    return requireSecret(http)(request);
  };
  await ask("Basic cHJveHk6cHJveHk=");
  await ask("Bearer of-a-proxy");
  await expect(ask("Bearer whsec-svc-another")).rejects.toMatchObject({ errorCode: "invalid_webhook_secret" });
});

test("a signed start needs no secret, and its trigger is looked up once and checked again", async () => {
  const { http, request, trigger, asked } = open(SIGNED, "");
  await requireSecretOrScheme(http)(request);
  expect(request.trigger).toBe(trigger);
  expect(asked).toEqual([TOKEN]);
  trigger.enabled = false;
  await expect(request.recheckCredential!()).rejects.toMatchObject({ status: 401 });
});

test("the external user may be sent in UTF-8 or, as fetch does, in Latin-1", () => {
  const read = (bytes: Buffer) => readExternalUser(["X-Svc-External-User", bytes.toString("latin1")], "svc");
  expect(read(Buffer.from("Jörg 😀"))).toBe("Jörg 😀");
  expect(read(Buffer.from("J\u00f6rg", "latin1"))).toBe("Jörg");
  for (const bytes of [Buffer.from("a\u0085b"), Buffer.from("a\u0085b", "latin1"), Buffer.alloc(257, "x")])
    expect(() => read(bytes)).toThrow(expect.objectContaining({ errorCode: "invalid_external_user" }));
});
