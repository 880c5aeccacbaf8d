import { afterEach, describe, expect, test, vi } from "vitest";
import { DIALECTS } from "#test/doubles/dialects.ts";
import { collectEvents, collectFailure, modelRequest, outputText } from "#test/doubles/modelRequest.ts";
import { connectorFor } from "../connectors.ts";
import { openModels } from "../index.ts";
import { useDouble } from "#test/doubles/useDouble.ts";

afterEach(() => vi.unstubAllEnvs());

describe.each(DIALECTS)("a request to $name", (dialect) => {
  const { double, credential, open, request } = useDouble(dialect);
  const useEnvironment = () => {
    for (const [name, value] of Object.entries(dialect.environment)) vi.stubEnv(name, value);
  };

  test.each(dialect.pathSuffixes)("goes to the configured address (with %j at its end)", async (suffix) => {
    const model = open({ base_url: double().url + suffix });
    expect(outputText(await collectEvents(model, request("Hello")))).toBe("Hello");
  });

  test.each([false, true])(
    "has no header from the environment and no needless one (streamed: %s)",
    async (streamed) => {
      useEnvironment();
      await collectEvents(open(), request("Hello", { streamed }));
      const { headers } = double().prompts().at(-1)!;
      const [name, value] = dialect.keyHeader(dialect.apiKey);
      expect(headers[name]).toBe(value);
      expect(JSON.stringify(headers)).not.toContain("environment");
      expect(Object.keys(headers).filter((one) => one.startsWith("x-") && one !== name)).toEqual([]);
    },
  );

  test("without a configured address goes to the provider's own, whatever the environment variables", async () => {
    useEnvironment();
    const sent: { url: string; headers: object }[] = [];
    const model = connectorFor({ provider: dialect.name }).model(
      credential({ base_url: null }),
      async (url, { headers }) => {
        sent.push({ url, headers });
        throw new Error("no network in this test");
      },
    );
    await collectFailure(model, request("Hello"));
    const [name, value] = dialect.keyHeader(dialect.apiKey);
    for (const { url, headers } of sent) {
      expect(new URL(url).origin).toBe(dialect.origin);
      expect(headers).toMatchObject({ [name]: value });
      expect(JSON.stringify([url, headers])).not.toMatch(/environment|v9/);
    }
    expect(sent.length).toBeGreaterThan(0);
  });

  test("never goes to a private address that a tenant named", async () => {
    const { error } = await collectFailure(open({ guarded: true }), request("Hello"));
    expect(error).toMatchObject({ kind: "refused", message: "The provider's address is not allowed here." });
    expect(double().requests).toEqual([]);
  });

  test.each([true, false])("goes to a private address that the deployment allows (streamed: %s)", async (streamed) => {
    const privateHosts = [new URL(double().url).host];
    const model = openModels({ offline: false, privateHosts }).open(credential({ guarded: true }));
    for (let n = 0; n < 20; n += 1)
      expect(outputText(await collectEvents(model, request("Hello there", { streamed })))).toBe("Hello there");
    expect(new Set(double().requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(3);
  });

  test.each(["", "not an address", "ftp://example.com/v1", "http://"])("is not sent to %j", async (base_url) => {
    const { error } = await collectFailure(open({ base_url }), request("Hello"));
    expect(error).toMatchObject({ kind: "refused", message: `The provider ${dialect.name} has no usable address.` });
  });

  test.each(["", "sk-\n", "sk key", "schlüssel"])("is not sent with the API key %j", async (api_key) => {
    const { error } = await collectFailure(open({ api_key }), request("Hello"));
    expect(error.kind).toBe("refused");
    expect(double().requests).toEqual([]);
  });
});

test("a request to an unknown provider needs a configured address", async () => {
  const model = openModels({ offline: false, privateHosts: [] }).open({
    provider: "mistral",
    api_key: "sk",
    base_url: null,
    guarded: false,
  });
  const { error } = await collectFailure(model, modelRequest("Hello"));
  expect(error).toMatchObject({ kind: "refused", message: "The provider mistral has no usable address." });
});
