import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { ApiDescriptions } from "#http/base/deps.ts";
import type { DescribedSettings } from "#http/describeApi.ts";

/**
 * Describes the API in a thread when it is first asked for: the half second that this takes would delay the start of the process, or
 * other requests. A thread that fails is tried again with the next request.
 */
export function openDescriptions(settings: DescribedSettings) {
  let described: Promise<ApiDescriptions> | undefined;

  async function describe(): Promise<ApiDescriptions> {
    const { BASE_URL, SERVICE_NAME, BUS_PREFIX } = settings;
    const workerData: DescribedSettings = { BASE_URL, SERVICE_NAME, BUS_PREFIX };
    const worker = new Worker(new URL("./describeThread.ts", import.meta.url), { workerData, env: {} });
    // a process that ends does not wait for it
    worker.unref();
    // a Buffer arrives as a plain array of bytes
    const [{ openapi, asyncapi }] = (await once(worker, "message")) as [Record<keyof ApiDescriptions, Uint8Array>];
    return { openapi: Buffer.from(openapi), asyncapi: Buffer.from(asyncapi) };
  }

  return (): Promise<ApiDescriptions> => {
    described ??= describe();
    described.catch(() => (described = undefined));
    return described;
  };
}
