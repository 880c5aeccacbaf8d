import { expect, test } from "vitest";
import { retentionRoutes } from "./retention.ts";

type Handler = (request: object) => Promise<unknown>;

test("a preview waits for a place among the long reads of its organization before it counts", async () => {
  let preview: Handler | undefined;
  const ignore = (): void => undefined;
  const post = (_path: string, _options: object, handler: Handler) => void (preview = handler);
  const app = { get: ignore, put: ignore, delete: ignore, post };
  retentionRoutes(app as never, { waitUntilCurrent: () => expect.fail("counted without a place") } as never);
  const acquireLongRead = () => Promise.reject(new Error("waits"));
  const request = {
    caller: { organization_id: "o" },
    params: { subject: "organization" },
    body: { threads: "30d" },
    acquireLongRead,
  };
  await expect(preview!(request)).rejects.toThrow("waits");
});
