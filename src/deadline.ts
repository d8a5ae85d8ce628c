// Waiting for something, but not for ever.

/** The work's result, or that of `late` if it takes longer than so many ms; it is then left to itself. */
export async function within<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<L>((resolve, reject) => {
    timer = setTimeout(() => {
      try {
        resolve(late());
      } catch (error) {
        reject(error);
      }
    }, ms);
  });
  return await Promise.race([work, tooLate]).finally(() => clearTimeout(timer));
}
