import { afterFile } from "./cleanUp.ts";
import { openNetworkProxy } from "./networkProxy.ts";

export { throughProxy } from "./networkProxy.ts";

/** A network proxy that ends with the test file. */
export async function startFaultProxy(target: { host: string; port: number }) {
  const proxy = await openNetworkProxy(target);
  afterFile(() => proxy.close());
  return proxy;
}
