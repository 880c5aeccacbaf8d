/** The name of a model, which breaks behind its provider before it breaks within a word. */
export const ModelName = ({ name }: { name: string }) =>
  name.split("/").map((part, n) => (
    <span key={n}>
      {n > 0 && (
        <>
          /<wbr />
        </>
      )}
      {part}
    </span>
  ));
