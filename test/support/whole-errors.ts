// With `await using` a test that fails and then cannot clean up throws a SuppressedError. Its two
// errors are not in its message: a report would not say what failed.

class WholeSuppressedError extends Error {
  override readonly name = 'SuppressedError';

  constructor(error: unknown, suppressed: unknown) {
    super(`${stackOf(suppressed)}\nand then at cleaning up: ${stackOf(error)}`);
  }
}

const stackOf = (thrown: unknown) => (thrown instanceof Error ? thrown.stack : String(thrown));

// what `await using` is compiled to takes the global one, where there is one
Object.assign(globalThis, { SuppressedError: WholeSuppressedError });
