import { Validator } from "@seriousme/openapi-schema-validator";
import { beforeAll, describe, expect, test } from "vitest";
import { startService } from "./service.ts";

let document: any;
let operations: [name: string, operation: any][];
beforeAll(async () => {
  const { base } = await startService();
  document = await (await fetch(`${base}/openapi.json`)).json();
  operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, one]): [string, any] => [`${method} ${path}`, one]),
  );
});

/** Everything in the document, with its name. */
const walk = (value: unknown): [string, any][] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, child]) => [[name, child] as [string, any], ...walk(child)])
    : [];

describe("the API description", () => {
  test("is valid OpenAPI 3.1", async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  test("names every parameter of a path, and no other", () => {
    for (const [name, { parameters = [] }] of operations) {
      const inPath = [...name.matchAll(/\{([^}]*)\}/g)].map(([, one]) => one!);
      expect(
        inPath.every((one) => /^\w+$/.test(one)),
        name,
      ).toBe(true);
      const described = parameters.filter((one: any) => one.in === "path").map((one: any) => one.name);
      expect(described.sort(), name).toEqual(inPath.sort());
    }
  });

  test("gives every operation an id of its own, a summary, an answer and the error", () => {
    expect(new Set(operations.map(([, { operationId }]) => operationId)).size).toBe(operations.length);
    for (const [name, { operationId, summary, responses }] of operations) {
      expect(operationId, name).toMatch(/^[a-z]+[A-Z]\w*$/);
      expect(summary, name).toMatch(/\S/);
      expect(responses.default, name).toEqual({ $ref: "#/components/responses/Error" });
      expect(
        Object.keys(responses).filter((status) => status.startsWith("2")),
        name,
      ).not.toEqual([]);
    }
  });

  test("describes what every answer contains, and which bodies may be left out", () => {
    for (const [name, { responses }] of operations)
      for (const [status, { content }] of Object.entries<any>(responses))
        if (status !== "204" && status !== "default") expect(content, `${name} ${status}`).toBeDefined();
    const optional = operations.filter(([, { requestBody }]) => requestBody?.required === false).map(([name]) => name);
    expect(optional.sort()).toEqual([
      "post /api/workflows/hooks/{hook_token}",
      "post /api/workflows/runs/{run_id}/cancel",
      "post /api/workflows/{id}/triggers/{trigger_id}/rotate",
    ]);
  });

  test("refers only to what it has", () => {
    const refs = walk(document).filter(([name]) => name === "$ref");
    expect(refs.length).toBeGreaterThan(operations.length);
    for (const [, ref] of refs)
      expect(
        ref
          .slice(2)
          .split("/")
          .reduce((at: any, key: string) => at?.[key], document),
        ref,
      ).toBeDefined();
  });

  test("describes the answers of the main calls, whole and streamed", () => {
    const answer = (path: string, method: string, status = 200) => document.paths[path][method].responses[status];
    const named = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
    const chat = answer("/api/openai/v1/chat/completions", "post");
    expect(chat.content["application/json"]).toEqual(named("ChatCompletion"));
    const agent = answer("/api/agents/{agent_id}/v1/responses", "post");
    expect(agent.content["application/json"]).toEqual(named("AgentResponse"));
    for (const { content, headers } of [chat, agent]) {
      expect(content["text/event-stream"].schema.description).toContain("stream: true");
      expect(Object.keys(headers)).toEqual(["x-request-id", "x-thread-id"]);
    }
    expect(answer("/api/v1/knowledge/documents/{id}", "get").content["application/json"]).toEqual(named("Document"));
    expect(document.paths["/api/openai/v1/models/{id}"].get.operationId).toBe("getOpenaiModelsById");
  });
});
