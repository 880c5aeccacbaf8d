import { describe, expect, test } from "vitest";
import { findFaults, readApiDescription } from "./apiDescription.ts";

/* The description of the API has no fault, and a planted one is found. */

// the tests change parts of it that its type does not name
const document: any = await readApiDescription();

test("the API description has no fault", async () => {
  expect(await findFaults(document)).toEqual([]);
  expect(Object.keys(document.paths).length).toBeGreaterThan(80);
});

describe("a fault of the description is found:", () => {
  const path = "/api/agents/{id}";
  /** The faults are planted in a document of these paths: to check all paths takes half a second. */
  const PATHS = [path, "/api/keys", "/api/agents/{agent_id}/v1/responses"];
  test.each<[string, (planted: any) => void, RegExp]>([
    [
      "an error that is not described",
      ({ paths }) => delete paths[path].get.responses.default,
      /get .*: the error is not described/,
    ],
    [
      "an answer that is not described",
      ({ paths }) => delete paths[path].get.responses["200"],
      /get .*: no answer is described/,
    ],
    [
      "an answer without content",
      ({ paths }) => delete paths[path].get.responses["200"].content,
      /answer 200 has no content/,
    ],
    ["an operation without an id", ({ paths }) => delete paths[path].get.operationId, /operationId "" is no name/],
    [
      "two operations with one id",
      ({ paths }) => (paths[path].get.operationId = paths[path].patch.operationId),
      /stands twice/,
    ],
    ["an operation without a summary", ({ paths }) => delete paths[path].get.summary, /there is no summary/],
    ["a parameter that is not described", ({ paths }) => (paths[path].get.parameters = []), /id is not described/],
    [
      "a parameter that is not a word",
      ({ paths }) => (paths["/api/{*}"] = paths[path]),
      /\{\*\} of the path is no word/,
    ],
    ["an optional body", ({ paths }) => (paths[path].patch.requestBody.required = false), /OPTIONAL_BODIES/],
    [
      "a body without an example",
      ({ paths }) => delete paths[path].patch.requestBody.content["application/json"].example,
      /patch .*: the body has no example/,
    ],
    [
      "an example of a body that does not exist",
      ({ paths }) => delete paths[path].patch.requestBody,
      /example of patch .* takes no body/,
    ],
    [
      "an example that does not fit its body",
      ({ paths }) => (paths[path].patch.requestBody.content["application/json"].example.name = 1),
      /patch .*: the example of the body does not fit/,
    ],
    [
      "an example with an unknown field",
      ({ paths }) => (paths[path].patch.requestBody.content["application/json"].example.nmae = "Handbook"),
      /patch .*: the example of the body has the unknown field nmae/,
    ],
    [
      "an answer without a name",
      ({ paths, components }) => {
        const json = paths[path].get.responses["200"].content["application/json"];
        json.schema = components.schemas.Agent;
      },
      /get .*: the answer 200 has no name/,
    ],
    [
      "an answer without an example",
      ({ paths }) => delete paths[path].get.responses["200"].content["application/json"].examples,
      /get .*: the answer 200 has no example/,
    ],
    [
      "an example that does not fit its answer",
      ({ components }) => (components.examples.Agent.value.colour = "red"),
      /get .*: the example of the answer 200 does not fit its schema/,
    ],
    [
      "an error that does not fit its schema",
      ({ components }) => (components.examples.error_invalid_session.value.error.code = 401),
      /the example of the answer 401 does not fit its schema/,
    ],
    [
      "a missing refusal of a credential",
      ({ paths }) => {
        delete paths["/api/keys"].get.responses["401"];
      },
      /get \/api\/keys: the refusal of a credential has no example/,
    ],
    [
      "a missing answer to an unknown id",
      ({ paths }) => {
        delete paths[path].get.responses["404"];
        delete paths[path].get.responses["400"];
      },
      /get .*: the answer to an unknown id has no example/,
    ],
    [
      "a reference to a missing schema",
      ({ components }) => delete components.schemas.AgentResponse,
      /AgentResponse is not there/,
    ],
    ["an invalid document", (planted) => delete planted.info, /not valid OpenAPI 3\.1/],
  ])("%s", async (_, plant, expected) => {
    const paths = Object.fromEntries(PATHS.map((one) => [one, document.paths[one]]));
    const planted = structuredClone({ ...document, paths });
    plant(planted);
    expect(await findFaults(planted)).toContainEqual(expect.stringMatching(expected));
  });
});

test("the answers of the main calls are described, whole and streamed", () => {
  const answer = (path: string, method: string, status = 200) => document.paths[path][method].responses[status];
  const named = (name: string) => ({
    schema: { $ref: `#/components/schemas/${name}` },
    examples: { answer: { $ref: `#/components/examples/${name}` } },
  });
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

/** The specification and the clients of these let unknown fields pass. */
const TOLERANT = new Set([
  "/api/workflows/{id}",
  "/api/v1/knowledge/collections/{reference}",
  "/api/v1/knowledge/documents/{id}",
]);

test("a PATCH names each field that can be changed and refuses others, but for those of the specification", () => {
  const bodyOf = (operation: any): any => {
    const { schema } = operation.requestBody.content["application/json"];
    return schema.$ref ? document.components.schemas[schema.$ref.split("/").at(-1)] : schema;
  };
  const patches = Object.entries<any>(document.paths).filter(([, { patch }]) => patch);
  const tolerant = patches.filter(([, { patch }]) => bodyOf(patch).additionalProperties !== false);
  expect(patches.length).toBeGreaterThan(tolerant.length);
  expect(new Set(tolerant.map(([path]) => path))).toEqual(TOLERANT);
  expect(document.info.description).toContain("`additionalProperties: false`");
});
