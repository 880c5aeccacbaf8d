import { at, type Box, type Matrix, overlap } from "./geometry.ts";
import type { PdfPage } from "./open.ts";
import { cutRun, type Run } from "./runs.ts";

const MOST_LINKS = 2_000;

interface Link extends Box {
  url: string;
}

async function linksOf(page: PdfPage, matrix: Matrix): Promise<Link[]> {
  const notes = (await page.getAnnotations().catch(() => [])) as { subtype?: string; url?: string; rect?: number[] }[];
  const links: Link[] = [];
  for (const { subtype, url, rect } of notes) {
    if (subtype !== "Link" || url === undefined || rect?.length !== 4 || links.length >= MOST_LINKS) continue;
    const [ax, ay] = at(matrix, rect[0]!, rect[1]!);
    const [bx, by] = at(matrix, rect[2]!, rect[3]!);
    links.push({ url, x0: Math.min(ax, bx), y0: Math.min(ay, by), x1: Math.max(ax, bx), y1: Math.max(ay, by) });
  }
  return links;
}

/** The runs with the web addresses that the page's links lead to; a run that is a link in part is cut. */
export async function addLinks(page: PdfPage, runs: readonly Run[], matrix: Matrix): Promise<Run[]> {
  const links = await linksOf(page, matrix);
  if (links.length === 0) return [...runs];
  return runs.flatMap((run) => {
    const middle = run.baseline - run.size * 0.3;
    const over = links.filter(
      (link) => middle > link.y0 && middle < link.y1 && overlap(run.x0, run.x1, link.x0, link.x1) > run.size * 0.3,
    );
    if (over.length === 0) return [run];
    return cutRun(
      run,
      over.flatMap((link) => [link.x0, link.x1]).toSorted((a, b) => a - b),
    ).map((part) => {
      const link = over.find((one) => (part.x0 + part.x1) / 2 > one.x0 && (part.x0 + part.x1) / 2 < one.x1);
      return { ...part, link: link?.url ?? null };
    });
  });
}
