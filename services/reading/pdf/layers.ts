import type { Pdf } from "./openPdf.ts";

/** The layers of a file: groups of content that people can switch on and off, as they stand when it is opened. */
export interface Layers {
  /** Whether content is seen. `group`: what pdf.js says about its layer. */
  isVisible(group: unknown): boolean;
}

/** The layers as they are seen on a screen; damaged ones are all seen. */
export const readLayers = async (pdf: Pdf): Promise<Layers> => {
  const config: Layers | null = await pdf.getOptionalContentConfig().catch(() => null);
  return config ?? { isVisible: () => true };
};
