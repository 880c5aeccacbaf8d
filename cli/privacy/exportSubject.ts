import type { ServiceOptions } from "../service.ts";
import { download } from "./download.ts";
import { withPrivacy } from "./service.ts";

/** Writes everything that is stored about a person, a key or an external user. */
export const exportSubject = (subject: string, options: ServiceOptions & { out?: string }): Promise<void> =>
  withPrivacy(options, async (service) => {
    const path = `/exports?subject=${encodeURIComponent(subject)}`;
    const { counts } = await download<{ counts: Record<string, number> }>(service, path, options.out);
    const kinds = Object.entries(counts).map(([type, count]) => `${count} ${type}`);
    // stdout may be used for the lines
    process.stderr.write(`Exported ${kinds.join(", ") || "nothing"}\n`);
  });
