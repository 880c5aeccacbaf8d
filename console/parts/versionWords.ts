import type { Page } from "../api/types.ts";
import type { Version } from "../api/versions.ts";
import { formatExact } from "../format/index.ts";
import type { Choice } from "./Choices.tsx";

/** All versions as choices, newest first. Listed versions show their times. */
export function versionChoices({ data, total }: Page<Version>): Choice[] {
  const times = new Map(data.map(({ version, created_at }) => [version, `, ${formatExact(created_at)}`]));
  return Array.from({ length: total }, (_, n) => total - n).map((version) => ({
    value: String(version),
    label: `${version}${times.get(version) ?? ""}`,
  }));
}

/** The label of a version beside another one. */
export function describeVersion(
  { version }: Pick<Version, "version">,
  before: Pick<Version, "version"> | null,
): string {
  if (before) return `What version ${version} has and version ${before.version} has not is green; what it lost is red.`;
  return version === 1 ? "The first version, as it was saved." : `Version ${version}, as it was saved.`;
}
