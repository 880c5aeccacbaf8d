import { afterAll, beforeAll, beforeEach } from "vitest";
import type { Credential, Model, ModelRequest, Part } from "#services/turns/model.ts";
import type { Dialect, DialectDouble } from "./dialect.ts";
import { collectEvents, modelRequest } from "./modelRequest.ts";
import { openModels } from "#infra/models/index.ts";

/** How an answer may come. */
export const WAYS = [
  { way: "buffered", streamed: false },
  { way: "streamed", streamed: true },
];

/** A provider's double for the tests of a file or a `describe`; before each test it forgets its replies and requests. */
export function useDouble<Double extends DialectDouble>(dialect: Dialect<Double>) {
  const models = openModels({ offline: false, privateHosts: [] });
  let double: Double;
  beforeAll(async () => {
    double = await dialect.start();
  });
  beforeEach(() => double.reply());
  afterAll(() => double.close());

  const credential = (more: Partial<Credential> = {}): Credential => ({
    provider: dialect.name,
    api_key: dialect.apiKey,
    base_url: double.url,
    guarded: false,
    ...more,
  });
  const open = (more?: Partial<Credential>): Model => models.open(credential(more));
  const request = (text: string, more: Partial<ModelRequest> = {}, files: Part[] = []): ModelRequest =>
    modelRequest(text, { model: dialect.model, ...more }, files);
  return {
    double: () => double,
    credential,
    open,
    request,
    /** The body that a request becomes on the wire. */
    async wireBody(more: Partial<ModelRequest>, files: Part[] = []): Promise<any> {
      await collectEvents(open(), request("Hello", more, files));
      return double.prompts().at(-1)!.body;
    },
  };
}
