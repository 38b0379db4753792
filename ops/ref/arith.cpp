#include "ops/ref/fn_arith.h"

#define TW_FAMILY_arith ~, TW_THIS_ROW
#define TW_ADD_FAMILY add_arith
#include "ops/ref/family.inc"
