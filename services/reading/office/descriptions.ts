/** What Office adds to descriptions that it generates. */
const GENERATED = /(?:Description automatically generated|AI-generated content may be incorrect).*$/s;

/** A name without spaces, or an address or path that may have some. */
const FILE_NAME = /^(?:fig: ?)?(?:\S+|(?:[\w+.-]+:|\.{0,2}[\\/]).*)\.\w{3,4}$/;

/**
 * The description of a picture or a drawing, without what programs add to it. "" if it is only a file name or path, as programs fill it in:
 * such a description has no information, or reveals private paths.
 */
export const cleanDescription = (description: string | undefined): string => {
  const text = (description ?? "").replace(GENERATED, "").trim();
  return FILE_NAME.test(text) ? "" : text;
};
