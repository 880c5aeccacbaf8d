/** A name without spaces, or an address or path that may have some. */
const FILE_NAME = /^(?:fig: ?)?(?:\S+|(?:[\w+.-]+:|\.{0,2}[\\/]).*)\.\w{3,4}$/;

/**
 * Whether a picture's description is only its file name or path, as programs fill it in. Such a description has no information or
 * reveals private paths.
 */
export const isFileName = (description: string): boolean => FILE_NAME.test(description.trim());
