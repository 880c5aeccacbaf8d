import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { clientOf } from "../http/service.ts";
import { expectRefusal, UNKNOWN } from "../hostile/target.ts";
import { everyRoute } from "./everyRoute.ts";
import { openLibrary, type Library } from "./library.ts";

/* Authentication and product checks, which every route of the knowledge and extraction APIs has in common. */

const THINGS = { slug: "any", collection: UNKNOWN, document: UNKNOWN, extraction: UNKNOWN };
let library: Library;
const clients: Record<string, ReturnType<typeof clientOf>> = {};
beforeAll(async () => {
  library = await openLibrary();
  const { url } = library.platform;
  const session = clientOf({ chat: url }, await library.signIn());
  const key = async (body: object, change?: object) => {
    const created = (await session("POST", "/api/keys", { name: "Test", ...body })).body;
    if (change) await session("PATCH", `/api/keys/${created.id}`, change);
    return created.key as string;
  };
  const as = (token: string) => clientOf({ chat: `${url}/api/v1/knowledge` }, token);
  const soon = Date.now() + 1_000;
  clients["an unknown key"] = as("sk-svc-unknown");
  clients["a disabled key"] = as(await key({}, { enabled: false }));
  clients["an expired key"] = as(await key({ expires_at: new Date(soon).toISOString() }));
  clients["a key for knowledge"] = as(await key({ products: ["knowledge"] }));
  clients["a key for extraction"] = as(await key({ products: ["extraction"] }));
  clients["a key for nothing"] = as(await key({ products: [] }));
  await sleep(soon - Date.now() + 10);
});

describe.each(everyRoute("").map(({ name }) => [name]))("a request to %s", (name) => {
  const route = () => everyRoute(library.extractions).find((one) => one.name === name)!;

  test.each([
    ["an unknown key", "invalid_api_key"],
    ["a disabled key", "api_key_disabled"],
    ["an expired key", "expired_api_key"],
  ])("with %s is refused", async (who, code) => {
    expectRefusal(await route().send(clients[who]!, THINGS), 401, code);
  });

  test("without a key is refused", async () => {
    const bare: typeof library.call = (method, path, body, headers) =>
      library.call(method, path, body, { ...headers, authorization: "" });
    expectRefusal(await route().send(bare, THINGS), 401, "missing_api_key");
  });

  test("is refused with a key that is not enabled for the product", async () => {
    const { product, send } = route();
    const wrong = product === "knowledge" ? "a key for extraction" : "a key for knowledge";
    for (const who of [wrong, "a key for nothing"])
      expectRefusal(await send(clients[who]!, THINGS), 403, "product_not_enabled");
    const right = await send(clients[`a key for ${product}`]!, THINGS);
    expect([401, 403]).not.toContain(right.status);
  });
});
