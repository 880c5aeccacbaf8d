/** The name of a model. It wraps after its provider before it wraps within a word. */
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
