import { afterEach, expect, test, vi } from "vitest";
import { seed } from "../../cli/seed.ts";
import { startService } from "../http/service.ts";
import { openTenant } from "../workflows/tenant.ts";
import { EXAMPLE, readExample } from "./example.ts";

/* What the first start creates. */

afterEach(() => void vi.unstubAllGlobals());

test("the next start completes an example that was interrupted, without duplicates", async () => {
  const service = await startService();
  const credentials = await service.organization("Seeded");
  const tenant = await openTenant(service.base, credentials);
  const { fetch } = globalThis;
  for (const allowed of [3, 5, 8]) {
    let sent = 0;
    vi.stubGlobal("fetch", (...args: Parameters<typeof fetch>) =>
      sent++ < allowed ? fetch(...args) : Promise.reject(new Error("killed")),
    );
    await expect(seed(service.base, credentials)).rejects.toThrow("killed");
    vi.unstubAllGlobals();
  }
  await seed(service.base, credentials);
  expect(await readExample(tenant)).toEqual(EXAMPLE);
});
