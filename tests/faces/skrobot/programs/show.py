"""What every program here begins with: `show` prints a name and what a function gives, or raises.

The .txt files beside them are what these programs print with scikit-robot 0.4.7, less what it and
the face say differently on purpose (see parity.toml).
"""

import numpy as np, sys, warnings, logging
warnings.simplefilter('ignore')
logging.disable(logging.CRITICAL)
np.set_printoptions(precision=5, suppress=True, linewidth=140)
def fmt(x):
    if isinstance(x, np.ndarray) and x.dtype.kind in 'fi': return str(np.round(x.astype(float), 4) + 0.0)
    if isinstance(x, (float, np.floating)): return str(round(float(x), 4) + 0.0)
    if isinstance(x, (list, tuple)): return type(x).__name__ + '[' + ', '.join(fmt(e) for e in x) + ']'
    if isinstance(x, dict): return '{' + ', '.join(str(k) + ': ' + fmt(v) for k, v in x.items()) + '}'
    if isinstance(x, (bool, np.bool_)): return str(bool(x))
    if isinstance(x, (int, np.integer)): return str(int(x))
    if x is None or isinstance(x, str): return repr(x)
    if hasattr(x, 'worldpos'): return type(x).__name__ + ' ' + fmt(x.worldpos()) + fmt(x.worldrot())
    return type(x).__name__
def show(label, f, text=False):
    try: v = f()
    except Exception as e:
        print(label, '!!', type(e).__mro__[0].__name__ if type(e).__module__ == 'builtins' else [c.__name__ for c in type(e).__mro__ if c.__module__ == 'builtins'][0], str(e)[:100] if text else '')
    else: print(label, '=', fmt(v))
