import type { ServiceOptions } from "../service.ts";
import { download } from "./download.ts";
import { withPrivacy } from "./service.ts";

interface ExportEnd {
  counts: Record<string, number>;
}

/** Writes everything that is stored about a person, a key or an external user. */
export const exportSubject = (subject: string, options: ServiceOptions & { out?: string }): Promise<void> =>
  withPrivacy(options, async (service) => {
    const { counts } = await download<ExportEnd>(service, "/exports", options.out, { subject });
    const kinds = Object.entries(counts).map(([type, count]) => `${count} ${type}`);
    // stdout may be used for the lines
    process.stderr.write(`Exported ${kinds.join(", ") || "nothing"}\n`);
  });
