// Composite values as they are sent, and as they should never be sent.

import { describe, expect, it } from 'vitest';
import type { Relation } from '../../src/pgoutput/relation.ts';
import { COLUMN_TEXT, TupleData } from '../../src/pgoutput/tuple.ts';
import type { CatalogTypes, TypeFacts, TypeShape } from '../../src/pgtypes/type-facts.ts';
import { TypeRegistry } from '../../src/pgtypes/type-registry.ts';
import { encoded } from './encoded.ts';

const PLACE = 16_500;
const PLACES = 16_501;
const NOTHING = 16_502;
const ONE = 16_503;
const LOOP = 16_504;
const MIXED = 16_505;

function facts(typeId: number, shape: TypeShape): TypeFacts {
  return { typeId, schema: 'shop', typeName: `type_${typeId}`, shape, jsonCast: 'none' };
}

function composite(typeId: number, attributes: Readonly<Record<string, number>>): TypeFacts {
  const list = Object.entries(attributes).map(([name, type]) => ({ name, typeId: type }));
  return facts(typeId, { kind: 'composite', attributes: list });
}

const VECTORS = 16_506;

const catalog = (...all: readonly TypeFacts[]): CatalogTypes => ({
  facts: all,
  names: all.map(({ typeId, typeName }) => ({ typeId, typmod: -1, name: typeName })),
});

const CATALOG: CatalogTypes = catalog(
  composite(PLACE, { street: 25, 'a"b': 23 }),
  facts(PLACES, { kind: 'array', element: PLACE, delimiter: ',' }),
  composite(NOTHING, {}),
  composite(ONE, { only: 25 }),
  composite(LOOP, { again: LOOP }),
  composite(VECTORS, { ints: 22, oids: 30, docs: 3807 }),
  composite(MIXED, { number: 1700, flag: 16, at: 1184, doc: 114, list: 1007, places: PLACES }),
);

function registry(known = CATALOG): TypeRegistry {
  const types = new TypeRegistry();
  types.learn([], known);
  return types;
}

describe('a composite value', () => {
  it.each([
    [PLACE, '("Main ""St"", (x)\\\\",3)', '{"street":"Main \\"St\\", (x)\\\\","a\\"b":3}'],
    [PLACE, '(,)', '{"street":null,"a\\"b":null}'],
    [PLACE, '("",)', '{"street":"","a\\"b":null}'],
    [NOTHING, '()', '{}'],
    [ONE, '()', '{"only":null}'],
    [ONE, '("")', '{"only":""}'],
    [PLACES, '{"(a,1)",NULL}', '[{"street":"a","a\\"b":1},null]'],
    [
      MIXED,
      '(1.50,t,"2026-11-29 20:36:50+00","{""k"":\n1}","{1,NULL}","{""(a,1)""}")',
      '{"number":1.50,"flag":true,"at":"2026-11-29T20:36:50+00:00","doc":{"k": 1},"list":[1,null],' +
        '"places":[{"street":"a","a\\"b":1}]}',
    ],
  ])('of type %i: %s', (typeId, text, json) => {
    expect(encoded(typeId, text, registry())).toBe(json);
  });

  it.each(['', '(', ')', '(a', '(a,', '("a,1)', '(a,"1)', '(a,1))', 'a,1', '(a,1)x', '(a,"\\'])(
    '%j that is none stays the text, as a string',
    (text) => {
      expect(encoded(PLACE, text, registry())).toBe(JSON.stringify(text));
    },
  );

  it.each(['()', '(a)', '(a,1,)', '(a,1,"b,c",d)'])(
    '%j of another number of fields stays the text, as a string',
    (text) => {
      expect(encoded(PLACE, text, registry())).toBe(JSON.stringify(text));
    },
  );

  it('holds strings where its attributes are not what they were', () => {
    const text = '(1x,yes,"1 2","{k: 1}","1,2",x)';
    expect(encoded(MIXED, text, registry())).toBe(
      '{"number":"1x","flag":"yes","at":"1 2","doc":"{k: 1}","list":"1,2","places":"x"}',
    );
  });

  it('holds strings where vectors are not what they were', () => {
    expect(encoded(VECTORS, '("1 -2","1 2","{""1""}")', registry())).toBe(
      '{"ints":[1,-2],"oids":["1","2"],"docs":[1]}',
    );
    expect(encoded(VECTORS, '("1abc 2","5,6:7","{x}")', registry())).toBe(
      '{"ints":"1abc 2","oids":"5,6:7","docs":["x"]}',
    );
  });

  it('of a type that claims to hold itself is read as far as the text goes', () => {
    expect(encoded(LOOP, '(1)', registry())).toBe('{"again":"1"}');
    expect(encoded(LOOP, '()', registry())).toBe('{"again":null}');
  });
});

describe('a composite type that was altered', () => {
  const relation: Relation = {
    relationId: 16_600,
    schema: 'shop',
    name: 'visits',
    identity: 'default',
    columns: [{ name: 'places', typeId: PLACES, typmod: -1, key: false }],
  };
  const row = (text: string): TupleData => {
    const tuple = new TupleData('new');
    tuple.bytes = Buffer.from(text);
    tuple.columnCount = 1;
    tuple.kinds[0] = COLUMN_TEXT;
    tuple.starts[0] = 0;
    tuple.ends[0] = tuple.bytes.length;
    return tuple;
  };
  const altered = catalog(composite(PLACE, { street: 25, 'a"b': 23, town: 25 }));

  it('is wanted again once a value does not fit it, and then read as it is now', () => {
    const types = registry();
    expect(types.outdatedTypes(relation, row('{"(a,1)"}'))).toEqual([]);
    const wanted = types.outdatedTypes(relation, row('{"(a,1)","(a,1,b)"}'));
    expect(wanted).toEqual([{ typeId: PLACE, typmod: -1 }]);
    types.learn(wanted, altered);
    expect(types.outdatedTypes(relation, row('{"(a,1,b)"}'))).toEqual([]);
    expect(encoded(PLACES, '{"(a,1,b)"}', types)).toBe('[{"street":"a","a\\"b":1,"town":"b"}]');
  });

  it('is looked at once for values from before, which stay text', () => {
    const types = registry(altered);
    types.learn([], catalog(facts(PLACES, { kind: 'array', element: PLACE, delimiter: ',' })));
    const wanted = types.outdatedTypes(relation, row('{"(a,1)"}'));
    types.learn(wanted, altered);
    expect(types.outdatedTypes(relation, row('{"(a,1)"}'))).toEqual([]);
    expect(encoded(PLACES, '{"(a,1)"}', types)).toBe('["(a,1)"]');
    expect(types.outdatedTypes(relation, row('{"(a)"}'))).toEqual(wanted);
  });

  it('fits again once it was altered back', () => {
    const types = registry();
    types.learn(types.outdatedTypes(relation, row('{"(a,1,b)"}')), altered);
    types.learn(types.outdatedTypes(relation, row('{"(a,1)"}')), CATALOG);
    const again = types.outdatedTypes(relation, row('{"(a,1,b)"}'));
    expect(again).toEqual([{ typeId: PLACE, typmod: -1 }]);
    types.learn(again, altered);
    expect(encoded(PLACES, '{"(a,1,b)"}', types)).toBe('[{"street":"a","a\\"b":1,"town":"b"}]');
  });

  it('may be looked at again after a while', () => {
    const types = registry();
    const wanted = types.outdatedTypes(relation, row('{"(a)"}'));
    types.learn(wanted, CATALOG);
    expect(types.outdatedTypes(relation, row('{"(a)"}'))).toEqual([]);
    types.forgetFailures();
    expect(types.outdatedTypes(relation, row('{"(a)"}'))).toEqual(wanted);
  });

  it('keeps its last shape when it is gone', () => {
    const types = registry();
    const wanted = types.outdatedTypes(relation, row('{"(a)"}'));
    types.learn(wanted, catalog());
    expect(encoded(PLACES, '{"(a,1)"}', types)).toBe('[{"street":"a","a\\"b":1}]');
    expect(encoded(PLACES, '{"(a)"}', types)).toBe('["(a)"]');
  });

  it('is none of our business where values stay text', () => {
    const types = new TypeRegistry({ values: 'text' });
    types.learn([], CATALOG);
    expect(types.outdatedTypes(relation, row('{"(a)"}'))).toEqual([]);
  });
});

describe('a type that the catalog does not have', () => {
  const relation: Relation = {
    relationId: 16_600,
    schema: 'shop',
    name: 'visits',
    identity: 'default',
    columns: [{ name: 'place', typeId: PLACE, typmod: -1, key: false }],
  };
  const row = new TupleData('new');

  it('is asked for again in another unit, and less and less often', () => {
    const types = new TypeRegistry();
    let asked = 0;
    const ask = (): void => {
      const wanted = types.unknownTypes(relation);
      if (wanted.length === 0) return;
      asked++;
      types.learn(wanted, catalog());
    };
    ask();
    ask();
    expect(asked).toBe(1);
    for (let unit = 0; unit < 1000; unit++) {
      types.nextUnit();
      ask();
    }
    expect(asked).toBe(10);
    types.forgetFailures();
    ask();
    expect(asked).toBe(11);
  });

  it('changes the version, with which encoders are made anew, once it is found', () => {
    const types = new TypeRegistry();
    types.learn(types.unknownTypes(relation), catalog());
    const before = types.version;
    expect(encoded(PLACE, '(a,1)', types)).toBe('"(a,1)"');
    types.nextUnit();
    types.learn(types.outdatedTypes(relation, row), CATALOG);
    expect(types.version).toBeGreaterThan(before);
    expect(encoded(PLACE, '(a,1)', types)).toBe('{"street":"a","a\\"b":1}');
    expect(types.unknownTypes(relation)).toEqual([]);
  });

  it('is told once, unless nobody could be asked', () => {
    const told: string[] = [];
    const types = new TypeRegistry({ onTypeNotFound: (name) => told.push(name) });
    types.announce({ typeId: PLACE, schema: 'shop', name: 'place' });
    types.learn(types.unknownTypes(relation), catalog());
    types.nextUnit();
    types.learn(types.unknownTypes(relation), catalog());
    expect(told).toEqual(['shop.place']);
    const deaf = new TypeRegistry({ onTypeNotFound: (name) => told.push(name) });
    deaf.learn(deaf.unknownTypes(relation), null);
    expect(told).toHaveLength(1);
  });
});
